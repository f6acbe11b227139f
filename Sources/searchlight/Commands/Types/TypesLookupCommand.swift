// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import UniformTypeIdentifiers

struct TypesLookupCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Find the type of a file name extension, a MIME type or a four-character code.",
        discussion: """
            A word without an option is the identifier of a declared type, a MIME type (text/html) or a file name \
            extension (html).

            Without --conforming-to, the type must conform to public.data; “any” accepts every type. An undeclared tag \
            has a dynamic type. With --stdin, each line has “extension”, “mime” or “ostype”, the tag and optionally the \
            parent, separated by tabs. For each line, the identifier or an empty line is printed.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "A type identifier, a MIME type or a file name extension.")
    var word: String?
    @Option(name: .customLong("extension"), help: "Look up a file name extension, with or without the dot.")
    var filenameExtension: String?
    @Option(help: "Look up a MIME type.")
    var mime: String?
    @Option(
        help:
            "Look up a four-character code (OSType), such as TEXT or 0x54455854. A shorter code is padded with NULs."
    )
    var ostype: String?
    @Option(help: ArgumentHelp("Find only types that conform to this type.", valueName: "type"))
    var conformingTo: String?
    @Flag(help: "Also use the desktop's database of MIME types (shared-mime-info).")
    var desktop = false
    @Flag(help: "Read tags from standard input.")
    var stdin = false

    func validate() throws {
        try refuseEmpty(word, "The word", instead: "Pass one, such as pdf.")
        try refuseEmpty(filenameExtension, "--extension", instead: "Name one, such as pdf.")
        try refuseEmpty(mime, "--mime", instead: "Name one, such as text/plain.")
        try refuseEmpty(ostype, "--ostype", instead: "Name one, such as TEXT.")
        try refuseEmpty(conformingTo, "--conforming-to")
        let given = [word != nil, filenameExtension != nil, mime != nil, ostype != nil, stdin].count { $0 }
        guard given == 1 else {
            throw ValidationError(
                "Pass a word, such as pdf, or exactly one of --extension, --mime, --ostype and --stdin.")
        }
    }

    func perform() async throws {
        options.registerTypes()
        guard !stdin else { return try answerInput() }
        let found = try word.map(typeMeant) ?? typeOfTag()
        if options.json { return try Output.printJSON(TypeReport(found)) }
        try Output.line("\(found.identifier)")
    }

    private func typeOfTag() throws -> UTType {
        if let filenameExtension { return try type(of: filenameExtension, .filenameExtension) }
        if let mime { return try type(of: mime, .mimeType) }
        return try type(of: ostype ?? "", .osType)
    }

    /// Returns the type of a word without an option.
    private func typeMeant(by word: String) throws -> UTType {
        if let type = UTType(word) {
            guard let conformingTo, conformingTo != "any" else { return type }
            guard type.conforms(to: try declaredType(conformingTo)) else {
                throw CommandFailure(message: "\(word) does not conform to \(conformingTo).", status: .notFound)
            }
            return type
        }
        if word.contains("/") { return try type(ofMIMEOrPath: word) }
        let found = try type(of: word, .filenameExtension)
        // An undeclared name with dots inside is a misspelt identifier or a file name.
        guard found.isDynamic, word.dropFirst().contains("."), let last = word.split(separator: ".").last else {
            return found
        }
        throw CommandFailure(
            message: """
                \(word.debugDescription) is neither a declared type nor a known file name extension. To look up an \
                extension: searchlight types lookup --extension \(last)
                """, status: .notFound)
    }

    /// Returns the type of a word with a slash, which is a MIME type unless it is the path of a
    /// file.
    private func type(ofMIMEOrPath word: String) throws -> UTType {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        let isMIMEType = parts.count == 2 && !["", ".", "..", "~"].contains(parts[0])
        if isMIMEType, let found = try lookup(word, .mimeType, conformingTo: conformingTo),
            !found.isDynamic || Self.mediaTypes.contains(parts[0].lowercased()) || parts[0].hasPrefix("x-")
        {
            return found
        }
        throw CommandFailure(
            message: """
                \(word.debugDescription) is neither a declared type nor a known MIME type. To find the type of a file: \
                searchlight types of \(word)
                """, status: .notFound)
    }

    /// The top-level media types (IANA), and `chemical`, which shared-mime-info uses.
    private static let mediaTypes: Set = [
        "application", "audio", "chemical", "example", "font", "haptics", "image", "message", "model", "multipart",
        "text",
        "video",
    ]

    private func type(of tag: String, _ kind: UTTagClass) throws -> UTType {
        guard let found = try lookup(tag, kind, conformingTo: conformingTo) else {
            throw CommandFailure(message: "\(tag.debugDescription) is not a valid \(kind.rawValue).", status: .notFound)
        }
        return found
    }

    private func answerInput() throws {
        try forEachInputLine { line, number in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let kinds: [String: UTTagClass] = [
                "extension": .filenameExtension, "mime": .mimeType, "ostype": .osType,
            ]
            guard (2...3).contains(parts.count), let kind = kinds[parts[0]] else {
                Output.fail("line \(number) does not have “extension”, “mime” or “ostype”, a tag and optionally a type")
                return try Output.line("")
            }
            let parent = parts.count == 3 && !parts[2].isEmpty ? parts[2] : conformingTo
            try Output.line("\(try lookup(parts[1], kind, conformingTo: parent)?.identifier ?? "")")
        }
    }

    private func lookup(_ text: String, _ kind: UTTagClass, conformingTo parent: String?) throws -> UTType? {
        let isDotted = kind == .filenameExtension && text.count > 1 && text.hasPrefix(".")
        let tag = kind == .osType ? Self.fourCharacters(text) : isDotted ? String(text.dropFirst()) : text
        if desktop, parent == nil, kind == .mimeType { return desktopTypes.type(mimeType: tag) }
        if desktop, parent == nil, kind == .filenameExtension {
            return desktopTypes.type(ofFileNamed: "file." + tag, kind: .regular(isExecutable: false)) { [] }.type
        }
        let supertype: UTType? = parent == "any" ? nil : try declaredType(parent ?? UTType.data.identifier)
        return UTType(tag: tag, tagClass: kind, conformingTo: supertype)
    }
}

extension TypesLookupCommand {
    /// Returns a four-character code as text. The argument is either the code itself or its number.
    fileprivate static func fourCharacters(_ text: String) -> String {
        let digits = text.hasPrefix("0x") ? text.dropFirst(2) : ""
        let code = text.utf8.count == 10 ? UInt32(digits, radix: 16) : UTGetOSTypeFromString(text)
        return UTCreateStringForOSType(code ?? 0).takeRetainedValue()
    }
}

/// The desktop's MIME database, in the folders given by the environment.
var desktopTypes: SharedMIMEInfo {
    SharedMIMEInfo(roots: SharedMIMEInfo.standardRoots(environment: ProcessInfo.processInfo.environment))
}

struct TypesOfCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "of", abstract: "Print the types of files.",
        discussion: "Checks the name first, then the desktop's patterns, then the contents. Does not follow links.")

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The files.", completion: .file())
    var files: [String]

    private struct Report: Encodable {
        var path: String
        var type: String?
        var evidence: String?
        var error: String?
    }

    func perform() async throws {
        options.registerTypes()
        let database = desktopTypes
        let reports = files.map { path in
            guard let found = database.type(ofFile: path) else {
                return Report(path: path, error: "there is no such file")
            }
            return Report(path: path, type: found.type.identifier, evidence: found.evidence.rawValue)
        }
        if options.json {
            try Output.printJSON(reports)
        } else {
            for report in reports {
                if let type = report.type {
                    try Output.line("\(report.path): \(type)")
                } else {
                    Output.fail("\(report.path): \(report.error ?? "")")
                }
            }
        }
        if reports.contains(where: { $0.error != nil }) { throw ExitCode(ExitStatus.notFound.rawValue) }
    }
}
