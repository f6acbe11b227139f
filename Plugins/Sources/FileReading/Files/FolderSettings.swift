// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The folders that an extension serves, and the patterns of excluded files.
///
/// `$XDG_CONFIG_HOME/IDENTIFIER/folders` has one path per line. Lines that begin with `#` are
/// comments, and `~/` is the home directory. A line `!pattern` excludes matching files, in
/// `.gitignore` syntax. It applies to all folders, or to one folder if the pattern is a path in
/// that folder. Without this file, the default folders that exist are used. With
/// ``Rules/keepsDefaults`` they are always used.
///
/// A missing folder may be on a disk that is not mounted, so its files may still exist. While a
/// folder is missing, the settings are incomplete, and a reindex must not delete items.
package struct FolderSettings: Sendable {
    /// A default folder that is served without a settings file.
    package struct DefaultFolder: Sendable {
        /// The key in `user-dirs.dirs`, such as `XDG_DOCUMENTS_DIR`; nil for a program's folder.
        package var key: String?
        /// The path in the home directory if `user-dirs.dirs` does not have the key; an absolute
        /// path for a system folder.
        package var name: String
        /// `true` if the path is below `XDG_DATA_HOME` instead of the home directory.
        package var isData = false
        /// The patterns for files that are not served in this folder.
        package var exclusions: [String]

        package init(key: String, name: String, exclusions: [String] = []) {
            self.key = key
            self.name = name
            self.exclusions = exclusions
        }

        /// Creates a program's folder below the home directory.
        package init(home path: String) { (key, name, exclusions) = (nil, path, []) }

        /// Creates a program's folder below `XDG_DATA_HOME`.
        package init(data path: String) { (key, name, exclusions, isData) = (nil, path, [], true) }

        /// Creates a system folder.
        package init(absolute path: String) { (key, name, exclusions) = (nil, path, []) }

        package static let documents = DefaultFolder(key: "XDG_DOCUMENTS_DIR", name: "Documents")
        package static let pictures = DefaultFolder(key: "XDG_PICTURES_DIR", name: "Pictures")
        package static let downloads = DefaultFolder(key: "XDG_DOWNLOAD_DIR", name: "Downloads")
    }

    /// The settings that differ between extensions.
    package struct Rules: Sendable {
        /// The extension's identifier, which is also the name of its settings folder.
        package var identifier: String
        /// The noun for one file in messages, such as "note".
        package var noun: String
        package var defaults: [DefaultFolder]
        /// `true` if a settings file adds to the default folders instead of replacing them.
        package var keepsDefaults: Bool

        package init(identifier: String, noun: String, defaults: [DefaultFolder], keepsDefaults: Bool = false) {
            self.identifier = identifier
            self.noun = noun
            self.defaults = defaults
            self.keepsDefaults = keepsDefaults
        }
    }

    /// The maximum size of a settings file, in bytes; a larger file is an error.
    static let maximumSize = 64 << 10

    /// The absolute paths of accessible folders, without a trailing slash and without duplicates.
    package var folders: [String] = []
    /// The configured folders that are currently not accessible, in the same form.
    package var unavailable: [String] = []
    /// The first problem with a line or folder that cannot be read, so that its files are unknown;
    /// nil if there is none. Missing folders are ignored.
    package private(set) var unreadable: String?
    /// The patterns for excluded files.
    var exclusions: [Exclusion] = []
    /// The problems with individual folders, one line each.
    package var problems: [String] = []
    /// The reason why no folder is configured, and the file in which to configure one; nil if a
    /// folder is configured.
    package var absence: String?
    /// `true` if `folders` contains every configured folder, so that a file outside all of them is
    /// deleted.
    package var isComplete: Bool { problems.isEmpty && !lacksDefault }

    /// `true` if no folder is configured and no default folder exists.
    private var lacksDefault = false
    private let rules: Rules
    private let home: String
    private let data: String
    private let opener: FileOpener

    /// Reads the user's settings.
    ///
    /// - Parameters:
    ///   - rules: The extension's identifier and its default folders.
    ///   - environment: Supplies `HOME`, `XDG_CONFIG_HOME` and `XDG_DATA_HOME`.
    ///   - opener: Opens the folders.
    /// - Throws: A ``Skip`` if the settings file exists but cannot be read, so that the folders are
    ///   unknown.
    package init(
        _ rules: Rules, environment: [String: String] = ProcessInfo.processInfo.environment,
        opener: FileOpener = .system
    ) throws(Skip) {
        self.rules = rules
        self.opener = opener
        home = Self.absolute(environment["HOME"]) ?? Self.normalized(NSHomeDirectory()) ?? "/"
        data = Self.absolute(environment["XDG_DATA_HOME"]) ?? home + "/.local/share"
        let configuration = Self.absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        let file = configuration + "/\(rules.identifier)/folders"
        switch Self.contents(of: file) {
        case .success(let text):
            if rules.keepsDefaults { takeDefaults(userDirectories: configuration + "/user-dirs.dirs", settings: file) }
            readFolders(text, from: file)
        case .failure(.vanished):
            var status = stat()
            // The settings file is a link to a disk that is not mounted.
            guard lstat(file, &status) != 0 else { throw Skip(path: file, reason: .danglingLink) }
            takeDefaults(userDirectories: configuration + "/user-dirs.dirs", settings: file)
        case .failure(let reason): throw Skip(path: file, reason: reason)
        }
    }

    package func servedFolders<File>(_ type: File.Type = File.self) -> ServedFolders<File> {
        ServedFolders(paths: folders, unavailable: unavailable, exclusions: exclusions, opener: opener)
    }

    private mutating func readFolders(_ text: String, from file: String) {
        var patterns: [String] = []
        for (number, line) in LineIterator(text[...]).enumerated() {
            let line = String(line).trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("!") {
                patterns.append(String(line.dropFirst()).trimmed)
                continue
            }
            let expanded = line == "~" ? home : line.hasPrefix("~/") ? home + line.dropFirst() : line
            if let path = Self.normalized(expanded) {
                add(path)
            } else {
                complain(
                    "\(file.onOneLine), line \(number + 1): “\(line.onOneLine)” is not an absolute path below / without ..; "
                        + "until it is repaired no \(rules.noun) is deleted",
                    isUnreadable: true)
            }
        }
        for pattern in patterns.prefix(Exclusion.maximumCount) { addExclusion(pattern) }
        if !folders.isEmpty { (absence, lacksDefault) = (nil, false) }
        if folders.isEmpty, problems.isEmpty {
            absence = "no folder to index: \(file.onOneLine) names none; write paths into it"
        }
    }

    private mutating func takeDefaults(userDirectories file: String, settings: String) {
        var named = ""
        // An extension without such folders may not read the file.
        if rules.defaults.contains(where: { $0.key != nil }) {
            switch Self.contents(of: file) {
            case .success(let text): named = text
            case .failure(.vanished): break
            case .failure(let reason): problems.append(Skip(path: file, reason: reason).description)
            }
        }
        var reasons: [String] = []
        for folder in rules.defaults {
            let isAbsolute = folder.name.hasPrefix("/")
            let path =
                isAbsolute
                ? folder.name
                : folder.key.flatMap { self.folder($0, in: named) } ?? (folder.isData ? data : home) + "/" + folder.name
            // xdg-user-dirs sets the path to the home directory if the folder is disabled or was
            // deleted.
            let isDisabled = path == home
            if isDisabled || Self.type(of: path) == .failure(.vanished) {
                reasons.append(isDisabled ? "\(file.onOneLine) disables it" : "\(path.onOneLine) does not exist")
                continue
            }
            add(path)
            for pattern in folder.exclusions {
                if let pattern = IgnorePattern(pattern[...]) {
                    exclusions.append(Exclusion(folder: path, pattern: pattern))
                }
            }
        }
        lacksDefault = folders.isEmpty && !reasons.isEmpty
        guard folders.isEmpty, unavailable.isEmpty, let reason = reasons.first else { return }
        absence = "no folder to index: \(reason); write paths into \(settings.onOneLine)"
    }

    /// Returns the path of the last `KEY="$HOME/…"` or `="/…"` line.
    private func folder(_ key: String, in text: String) -> String? {
        var found: String?
        for line in LineIterator(text[...]) {
            let parts = line.trimmed.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == key, parts[1].first == "\"", parts[1].count >= 2,
                parts[1].last == "\""
            else { continue }
            let value = String(parts[1].dropFirst().dropLast())
            let isBelowHome = value == "$HOME" || value.hasPrefix("$HOME/")
            found = Self.normalized(isBelowHome ? home + value.dropFirst("$HOME".count) : value) ?? found
        }
        return found
    }

    /// Adds a pattern. A pattern that is a path in one of the folders applies only to that folder.
    private mutating func addExclusion(_ text: String) {
        let expanded = text.hasPrefix("~/") ? home + text.dropFirst() : text
        for folder in folders + unavailable where expanded.utf8.starts(with: (folder + "/").utf8) {
            guard let pattern = IgnorePattern(expanded.dropFirst(folder.count)) else { continue }
            exclusions.append(Exclusion(folder: folder, pattern: pattern))
            return
        }
        if let pattern = IgnorePattern(text[...]) { exclusions.append(Exclusion(folder: nil, pattern: pattern)) }
    }

    private mutating func add(_ path: String) {
        guard !(folders + unavailable).contains(where: { $0.utf8.elementsEqual(path.utf8) }) else { return }
        guard let problem = problem(withFolder: path) else { return folders.append(path) }
        unavailable.append(path)
        complain(
            "folder \(path.onOneLine) \(problem); its \(rules.noun)s are kept", isUnreadable: problem != "is missing")
    }

    private mutating func complain(_ problem: String, isUnreadable: Bool) {
        problems.append(problem)
        if isUnreadable, unreadable == nil { unreadable = problem }
    }

    /// Returns the reason why a folder cannot be entered; nil if it can.
    private func problem(withFolder path: String) -> String? {
        do throws(SkipReason) {
            // Checked before opening, since opening a device can have side effects.
            let type = try Self.type(of: path).get()
            guard type == .directory else { return "is not a folder but \(type)" }
            _ = try opener.folder(path)
            return nil
        } catch .vanished {
            return "is missing"
        } catch {
            return "cannot be read (\(error))"
        }
    }

    private static func absolute(_ path: String?) -> String? { path.flatMap(normalized) }

    /// Returns the path with single slashes and without `.`. Returns nil for relative paths, for
    /// `/` itself, and for paths with `..` or zero bytes.
    private static func normalized(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        let kept = components.filter { $0 != "." }
        if kept.isEmpty || kept.contains("..") { return nil }
        return "/" + kept.joined(separator: "/")
    }

    private static func type(of path: String) -> Result<FileType, SkipReason> {
        var status = stat()
        return stat(path, &status) == 0 ? .success(FileType(mode: status.st_mode)) : .failure(SkipReason(errno: errno))
    }

    /// Returns the text of a settings file.
    package static func contents(of path: String) -> Result<String, SkipReason> {
        Result { () throws(SkipReason) -> String in
            let opened = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
            guard opened.status.st_size <= maximumSize else {
                throw .tooLarge(size: Int64(opened.status.st_size), limit: Int64(maximumSize))
            }
            return try OpenedFile.text(of: opened.readAll(limit: maximumSize))
        }
    }
}
