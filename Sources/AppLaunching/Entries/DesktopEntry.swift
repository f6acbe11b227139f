// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// The desktop entry of an app (Desktop Entry Specification 1.5).
package struct DesktopEntry: Sendable {
    /// The identifier, such as `org.example.app.desktop`.
    package let identifier: String
    /// The absolute path of the file.
    package let path: String
    private let file: DesktopFile

    private static let group = "Desktop Entry"
    private static let suffix = ".desktop"
    private static let maximumNameCharacters = 80

    init(identifier: String, path: String, file: DesktopFile) {
        (self.identifier, self.path, self.file) = (identifier, path, file)
    }

    /// Returns `true` if a text can be a desktop entry's identifier: a file name that ends with
    /// `.desktop`.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= 255 && text.utf8.count > suffix.utf8.count && text.hasSuffix(suffix)
            && text.utf8.first != UInt8(ascii: ".") && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x2F && $0 != 0x7F }
    }

    /// Returns the name in a language, such as `de_DE.UTF-8`, or else the name without a language;
    /// `nil` if the entry has none.
    package func name(in language: String) -> String? {
        let locale = language.prefix { $0 != "." && $0 != "@" }
        let keys = ["Name[\(locale)]", "Name[\(locale.prefix { $0 != "_" })]", "Name"]
        let name = keys.lazy.compactMap { text($0) }.first { !$0.isEmpty }
        return name.map { String($0.prefix(Self.maximumNameCharacters)) }
    }

    /// `true` if the entry is to be treated as deleted.
    var isHidden: Bool { file.flag("Hidden", in: Self.group) }
    /// `true` if the entry describes an app.
    var isApplication: Bool { text("Type") == "Application" }
    /// `true` if the app runs in a terminal.
    var needsTerminal: Bool { file.flag("Terminal", in: Self.group) }
    /// The MIME types that the app opens. A type `x-scheme-handler/` followed by a URL scheme
    /// represents that scheme.
    package var types: [String] { file.list("MimeType", in: Self.group) }
    /// The working directory.
    var folder: String? { text("Path").flatMap { $0.hasPrefix("/") ? $0 : nil } }
    /// The program that must exist for the entry to be usable.
    var requiredProgram: String? { text("TryExec") }
    var icon: String? { text("Icon") }
    /// The command line, with field codes.
    var commandLine: String? { text("Exec") }
    /// `true` if the app is a Flatpak. Its command line forwards files through the document portal
    /// (`flatpak run --file-forwarding`).
    var isFlatpak: Bool { text("X-Flatpak") != nil }

    /// The name on the session bus; `nil` if the app is not activated over D-Bus.
    var busName: String? {
        guard file.flag("DBusActivatable", in: Self.group) else { return nil }
        let name = String(identifier.dropLast(Self.suffix.count))
        return MessageBus.objectPath(ofApplication: name) == nil ? nil : name
    }

    private func text(_ key: String) -> String? { file.text(key, in: Self.group) }
}

/// A user's desktop entries.
package struct DesktopEntries: Sendable {
    /// The folders with desktop entries, in order of precedence.
    let folders: [String]
    private let programFolders: [String]

    /// The search result for an identifier.
    package enum Lookup: Sendable {
        /// The entry.
        case found(DesktopEntry)
        /// The entry exists but cannot be used.
        case unusable(reason: String)
        /// There is no entry.
        case missing
    }

    /// The maximum number of dashes in an identifier that may represent folder separators.
    private static let maximumDashes = 4

    /// Determines the folders from an environment: `applications` in `$XDG_DATA_HOME` and in each
    /// of `$XDG_DATA_DIRS`.
    package init(environment: [String: String]) {
        let base = BaseDirectories(environment: environment)
        folders = ([base.data].compactMap(\.self) + base.sharedData).map { $0 + "/applications" }
        programFolders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
            .map(String.init).filter { $0.hasPrefix("/") }
    }

    /// Finds an entry. The first file with the name is used, even if it is hidden.
    package func find(_ identifier: String) -> Lookup {
        guard let entry = read(identifier), !entry.isHidden else { return .missing }
        guard entry.isApplication else { return .unusable(reason: "\(entry.path) is not an entry of type Application") }
        if let program = entry.requiredProgram, path(ofProgram: program) == nil {
            return .unusable(reason: "\(entry.path) needs \(program.prefix(80)), which is not installed")
        }
        return .found(entry)
    }

    /// Reads the first desktop entry file for an identifier; `nil` if there is none.
    package func read(_ identifier: String) -> DesktopEntry? {
        guard DesktopEntry.isIdentifier(identifier) else { return nil }
        for folder in folders {
            for name in Self.names(of: identifier) {
                let path = "\(folder)/\(name)"
                if let file = DesktopFile(path: path, limit: DesktopFile.maximumEntryBytes) {
                    return DesktopEntry(identifier: identifier, path: path, file: file)
                }
            }
        }
        return nil
    }

    /// Returns the absolute path of a program; `nil` if it is not installed.
    func path(ofProgram program: String) -> String? {
        if program.hasPrefix("/") { return isProgram(program) ? program : nil }
        guard !program.isEmpty, !program.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return programFolders.lazy.map { "\($0)/\(program)" }.first(where: isProgram)
    }

    /// Returns the relative paths that an identifier can mean. The entry `kde/x.desktop` has the
    /// identifier `kde-x.desktop`.
    private static func names(of identifier: String) -> [String] {
        var (names, prefix, rest) = ([identifier], "", identifier[...])
        while names.count <= maximumDashes, let dash = rest.firstIndex(of: "-") {
            prefix += rest[..<dash] + "/"
            rest = rest[rest.index(after: dash)...]
            // A manifest may name the entry, so no name may lead out of the entry folders.
            guard !rest.isEmpty, !prefix.hasPrefix("/"), !prefix.contains("//"), !"/\(prefix)".contains("/../") else {
                break
            }
            names.append(prefix + rest)
        }
        return names
    }
}
