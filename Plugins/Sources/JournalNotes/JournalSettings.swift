// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The folders that Journal indexes.
///
/// `$XDG_CONFIG_HOME/com.searchlight.journal/folders` has one path per line. Lines that begin with
/// `#` are comments, and `~/` is the home directory. A line `!pattern` excludes matching files, in
/// the syntax of `.gitignore`. It applies to all folders, or to one folder if the pattern is a path
/// in it. Without this file, the only folder is the desktop's documents folder, if it exists
/// (`XDG_DOCUMENTS_DIR` of `user-dirs.dirs`, else `~/Documents`).
///
/// A missing folder may be on a disk that is not mounted, so its notes may still exist. While a
/// folder is missing, the settings are incomplete, and a reindex must not delete items.
package struct JournalSettings: Sendable {
    /// The largest settings file, in bytes; a larger file is an error.
    static let maximumSize = 64 << 10

    /// The absolute paths of accessible folders, without a trailing slash and without duplicates.
    package var folders: [String] = []
    /// The configured folders that are not accessible now, in the same form.
    package var unavailable: [String] = []
    /// The patterns of excluded files.
    var exclusions: [Exclusion] = []
    /// The problems of individual folders, one line each.
    package var problems: [String] = []
    /// The reason why no folder is configured and the file to configure one in; nil if a folder is
    /// configured.
    package var absence: String?
    /// `true` if `folders` has every configured folder, so that a note in none of them is deleted.
    package var isComplete: Bool { problems.isEmpty && !lacksDocuments }

    /// `true` if no folder is configured and the default folder does not exist.
    private var lacksDocuments = false
    private let home: String
    private let opener: FileOpener

    /// Reads the settings of the user whose environment this is.
    ///
    /// - Parameters:
    ///   - environment: Supplies `HOME` and `XDG_CONFIG_HOME`.
    ///   - opener: Opens the folders.
    /// - Throws: A ``Skip`` if the settings file exists but cannot be read, so that the folders are
    ///   unknown.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) {
        self.opener = opener
        home = Self.absolute(environment["HOME"]) ?? Self.normalized(NSHomeDirectory()) ?? "/"
        let configuration = Self.absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        let file = configuration + "/com.searchlight.journal/folders"
        switch Self.contents(of: file) {
        case .success(let text): readFolders(text, from: file)
        case .failure(.vanished):
            var status = stat()
            // The file is a link to a disk that is not mounted.
            guard lstat(file, &status) != 0 else { throw Skip(path: file, reason: .danglingLink) }
            takeDocuments(userDirectories: configuration + "/user-dirs.dirs", settings: file)
        case .failure(let reason): throw Skip(path: file, reason: reason)
        }
    }

    package var noteFolders: NoteFolders {
        NoteFolders(paths: folders, unavailable: unavailable, exclusions: exclusions, opener: opener)
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
                problems.append(
                    "\(file.onOneLine), line \(number + 1): \(line.onOneLine) is not an absolute path below / without ..; "
                        + "until it is repaired no note is deleted"
                )
            }
        }
        for pattern in patterns.prefix(Exclusion.maximumCount) { addExclusion(pattern) }
        if folders.isEmpty, problems.isEmpty {
            absence = "no folder to index: \(file.onOneLine) names none; write paths into it"
        }
    }

    private mutating func takeDocuments(userDirectories file: String, settings: String) {
        var documents = home + "/Documents"
        switch Self.contents(of: file) {
        case .success(let text):
            if let named = documentsFolder(in: text) {
                documents = named
            }
        case .failure(.vanished): break
        case .failure(let reason): problems.append(Skip(path: file, reason: reason).description)
        }
        // xdg-user-dirs sets the home directory itself if the folder is disabled or was deleted.
        let isDisabled = documents == home
        guard isDisabled || Self.type(of: documents) == .failure(.vanished) else { return add(documents) }
        lacksDocuments = true
        let reason = isDisabled ? "\(file.onOneLine) disables it" : "\(documents.onOneLine) does not exist"
        absence = "no folder to index: \(reason); write paths into \(settings.onOneLine)"
    }

    /// Returns the path of the last `XDG_DOCUMENTS_DIR="$HOME/…"` or `="/…"` line.
    private func documentsFolder(in text: String) -> String? {
        var found: String?
        for line in LineIterator(text[...]) {
            let parts = line.trimmed.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "XDG_DOCUMENTS_DIR", parts[1].first == "\"", parts[1].count >= 2,
                parts[1].last == "\""
            else { continue }
            let value = String(parts[1].dropFirst().dropLast())
            let isBelowHome = value == "$HOME" || value.hasPrefix("$HOME/")
            found = Self.normalized(isBelowHome ? home + value.dropFirst("$HOME".count) : value) ?? found
        }
        return found
    }

    /// Adds a pattern. A pattern that is a path in one of the folders applies only there.
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
        problems.append("folder \(path.onOneLine) \(problem); its notes are kept")
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

    private static func contents(of path: String) -> Result<String, SkipReason> {
        Result { () throws(SkipReason) -> String in
            let opened = try OpenedNote(in: nil, name: path, followingLinks: true, opener: .system)
            guard opened.status.st_size <= maximumSize else {
                throw .tooLarge(size: Int64(opened.status.st_size), limit: Int64(maximumSize))
            }
            return try OpenedNote.text(of: opened.readAll(limit: maximumSize))
        }
    }
}
