// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import DatabaseBindings
import ExtensionHost
import ExtensionRuntime
import Foundation
import Glibc
import SearchlightEngine

/// Creates the project for a new extension.
struct ExtensionsNewCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create the source folder of a new extension, ready to build.",
        discussion: """
            swift: a package with a request handler as on Apple's systems. c, c++: one source file and a Makefile. \
            rust: a crate without other dependencies. go: a package without other dependencies. zig: one source \
            file. python: one module, which an interpreter in the worker runs. bindings: only an Info.plist, which \
            names the functions of a system library to call. database: only an Info.plist, which turns the rows of \
            an app's SQLite database into items; name the database file. Existing files are not overwritten.
            """)

    /// The language of the project.
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case swift
        case c
        case cPlusPlus = "c++"
        case rust
        case go
        case python
        case zig
        case bindings
        case database

        init?(argument: String) { self.init(rawValue: argument == "cpp" ? "c++" : argument.lowercased()) }
    }

    @Argument(
        help: ArgumentHelp("The identifier of the extension, such as com.example.recipes.", valueName: "identifier"))
    var identifier: String
    @Argument(
        help: ArgumentHelp(
            "With --language database: the database file. The manifest is proposed from its tables.", valueName: "file"),
        completion: .file())
    var file: String?
    @Option(name: .shortAndLong, help: "Write the extension in this language.")
    var language = Language.swift
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Create this folder. Default: the last part of the identifier, in the current folder.", valueName: "dir"),
        completion: .directory)
    var directory: String?
    @Option(
        help: ArgumentHelp(
            "Use Searchlight's source in this folder, for the Swift package dependency, the headers and the kits.",
            discussion: """
                Default for Swift: the compiled library of this program; if it has no modules, the source from which it \
                was built, else ../searchlight. For other languages: that source, else the installed headers and kits.
                """, valueName: "dir"), completion: .directory)
    var searchlight: String?
    @Flag(help: "Print JSON.")
    var json = false
    var printsJSON: Bool { json }

    func validate() throws {
        if directory?.isEmpty == true || searchlight?.isEmpty == true {
            throw ValidationError("The name of the folder is empty. Name a folder, or leave the option out.")
        }
        guard (file != nil) == (language == .database) else {
            throw ValidationError(
                file == nil
                    ? "Name the database file too: searchlight extensions new IDENTIFIER FILE --language database"
                    : "A file is only for --language database. Leave “\(file ?? "")” out.")
        }
    }

    func perform() async throws {
        guard ExtensionManifest.isIdentifier(identifier) else {
            throw CommandFailure(
                message: """
                    "\(identifier.prefix(300))" is not a bundle identifier. Use a reverse-DNS name of letters, digits, \
                    '-' and '.', such as com.example.recipes.
                    """,
                status: .usage)
        }
        try checkSource()
        let names = ProjectNames(identifier, guide: guide, program: Self.program)
        let folder = absolute(directory ?? names.folder)
        let project = try project(names, folder)
        try Self.write(project.files, to: folder)
        try tell(project, folder)
    }

    /// Checks that the given source folder exists, because the project could not be built
    /// otherwise.
    private func checkSource() throws {
        guard let source = searchlight.map(absolute) else { return }
        guard FileManager.default.fileExists(atPath: source + "/" + Self.headers) else {
            throw CommandFailure(
                message: """
                    \(source) is not Searchlight's source: there is no \(Self.headers) in it. Name the folder of a checkout \
                    with --searchlight, or leave the option out.
                    """,
                status: .notFound)
        }
    }

    private func project(_ names: ProjectNames, _ folder: String) throws -> Project {
        switch language {
        case .swift:
            .swift(
                names, library: compiledLibrary,
                searchlight: searchlight.map(absolute) ?? Self.ownSource ?? "../searchlight")
        case .c: .c(names, searchlight: searchlight.map(absolute) ?? Self.ownSource)
        case .cPlusPlus: .cPlusPlus(names, searchlight: searchlight.map(absolute) ?? Self.ownSource)
        case .rust: .rust(names, crate: kit("rust"))
        case .go: .go(names, kit: kit("go"))
        case .python: .python(names, searchlight: searchlight.map(absolute) ?? Self.ownSource, kit: kit("python"))
        case .zig: .zig(names, kit: kit("zig"))
        case .bindings: .bindings(names)
        case .database: try database(names, absolute(file ?? ""))
        }
    }

    /// The compiled library of this program; `nil` if a source folder is named, or if it is
    /// missing.
    private var compiledLibrary: CompiledLibrary? {
        guard searchlight == nil else { return nil }
        let folder = Installation(environment: ProcessInfo.processInfo.environment).frameworkFolder
        return CompiledLibrary(folder: folder, source: Self.ownSource)
    }

    /// Returns the project for a database, proposed from the tables in the file.
    private func database(_ names: ProjectNames, _ file: String) throws -> Project {
        guard FileManager.default.fileExists(atPath: file) else {
            throw CommandFailure(message: "There is no file \(file). Name the app's database.", status: .notFound)
        }
        let schema: DatabaseSchema
        do { schema = try DatabaseInspection.schema(of: file) } catch {
            throw CommandFailure(message: "A manifest cannot be proposed: \(error.message).", status: .failure)
        }
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        let declared = file.hasPrefix(home + "/") ? "~" + file.dropFirst(home.count) : file
        guard let proposal = ManifestProposal(schema, file: declared) else {
            throw CommandFailure(
                message: """
                    No table of \(file) has rows with a title, a text or an address. It has \
                    \(schema.tables.isEmpty ? "no tables" : schema.tables.map(\.name).joined(separator: ", ")).
                    """,
                status: .notFound)
        }
        let project = Project.database(names, proposal, file: declared)
        for file in project.files where file.path == "Info.plist" {
            do throws(BundleProblem) {
                _ = try ExtensionManifest(propertyList: Data(file.text.utf8))
            } catch {
                throw CommandFailure(
                    message: "An extension cannot read that file. \(error.description)", status: .refused)
            }
        }
        return project
    }

    /// The source checkout in which this program was built; `nil` if the program was installed.
    private static var ownSource: String? { folder(with: headers) }

    private static let headers = "Sources/SearchlightExtension/include"

    /// Returns the folder of the kit for a language: in the checkout, or below the installation
    /// prefix.
    private func kit(_ name: String) -> String {
        let inSource = "/Sources/SearchlightExtension/" + name
        if let source = searchlight.map(absolute) ?? Self.ownSource { return source + inSource }
        let installed = "share/searchlight/" + name
        return Self.folder(with: installed).map { $0 + "/" + installed } ?? "../searchlight" + inSource
    }

    /// The path of the guide: in the checkout, or below the installation prefix.
    private var guide: String {
        let page = "docs/EXTENSIONS.md"
        if let source = searchlight.map(absolute) ?? Self.ownSource { return source + "/" + page }
        let installed = "share/doc/searchlight/" + page
        return Self.folder(with: installed).map { $0 + "/" + installed } ?? page + " of Searchlight's source"
    }

    /// The path of this program.
    private static let program =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"

    /// Returns the nearest parent folder of this program that contains a path.
    private static func folder(with path: String) -> String? {
        var folder = URL(filePath: program).deletingLastPathComponent()
        while folder.path != "/" {
            if FileManager.default.fileExists(atPath: folder.path + "/" + path) { return folder.path }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    /// Writes all files to a new or empty folder, or none of them.
    private static func write(_ files: [Project.File], to folder: String) throws {
        let manager = FileManager.default
        if let names = try? manager.contentsOfDirectory(atPath: folder), !names.isEmpty {
            throw CommandFailure(
                message: "\(folder) exists and is not empty. Name another folder with --directory.",
                status: .refused)
        }
        let existed = manager.fileExists(atPath: folder)
        try NewFolder.make(folder)
        do {
            for file in files {
                let path = folder + "/" + file.path
                try manager.createDirectory(
                    atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
                // A file created in the meantime is not overwritten.
                try Data(file.text.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
            }
        } catch {
            for file in files.reversed() { unlink(folder + "/" + file.path) }
            if !existed { try? manager.removeItem(atPath: folder) }
            throw CommandFailure(
                message: "Writing to \(folder) failed: \(systemReason(of: error)).", status: .inputOutput)
        }
    }

    private func tell(_ project: Project, _ folder: String) throws {
        if json {
            return try Output.printJSON(
                [
                    "identifier": identifier, "language": language.rawValue, "folder": folder,
                    "files": project.files.map(\.path),
                    "found": project.notes.isEmpty ? nil : project.notes as [String]?,
                ] as JSONObject)
        }
        try Output.line("Made \(folder):")
        for file in project.files { try Output.line("  \(file.path)  \(dim: file.purpose)") }
        if !project.notes.isEmpty { try Output.line("Found in the database:") }
        for note in project.notes { try Output.line("  \(Output.tidied(note))") }
        try Output.line("Next:")
        try Output.line("  cd \(folder)")
        for step in project.steps { try Output.line("  \(step)") }
        try Output.line("Guarantees and access to files: \(guide)")
    }
}
