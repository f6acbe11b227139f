// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Which folders Journal serves.
///
/// `$XDG_CONFIG_HOME/com.searchlight.journal/folders` has one path per line; lines that begin with `#` are comments and
/// `~/` is the home directory. A line `!pattern` leaves out what matches, in the syntax of `.gitignore`, in all folders or, as a
/// path in one of them, there. Without that file it is the documents folder of the desktop (`XDG_DOCUMENTS_DIR` of
/// `user-dirs.dirs`, else `~/Documents`) if there is one.
///
/// A folder that is missing may lie on a disk that is not mounted, so its notes are not known to be gone. What is known
/// of the folders is then not complete, and nothing may be deleted on its ground.
package struct JournalSettings: Sendable {
    /// Larger settings are refused, in bytes.
    static let maximumSize = 64 << 10

    /// Absolute paths of folders that can be entered, without a slash at the end, each once.
    package var folders: [String] = []
    /// Folders that are meant and cannot be entered now; in the same form.
    package var unavailable: [String] = []
    /// What is left out of the folders.
    var exclusions: [Exclusion] = []
    /// What is wrong with single folders, one line each.
    package var problems: [String] = []
    /// Why there is no folder, and where to name one; nil if any is meant.
    package var absence: String?
    /// Whether every folder that is meant is in `folders`, so that what lies in none of them is gone.
    package var isComplete: Bool { problems.isEmpty && !lacksDocuments }

    /// No folder is configured, and the one that would be taken does not exist.
    private var lacksDocuments = false
    private let home: String
    private let opener: FileOpener

    /// Reads the settings of the person whose environment this is.
    ///
    /// - Parameters:
    ///   - environment: `HOME` and `XDG_CONFIG_HOME` are looked at
    ///   - opener: opens the folders
    /// - Throws: if the settings are there and cannot be read: then it is not known which folders are meant
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
            // Settings that are kept elsewhere, on a disk that is not mounted.
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
                        + "until it is mended no note is deleted"
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
        // The home directory itself means that there is no such folder; the desktop writes that when it has vanished.
        let isDisabled = documents == home
        guard isDisabled || Self.type(of: documents) == .failure(.vanished) else { return add(documents) }
        lacksDocuments = true
        let reason = isDisabled ? "\(file.onOneLine) disables it" : "\(documents.onOneLine) does not exist"
        absence = "no folder to index: \(reason); write paths into \(settings.onOneLine)"
    }

    /// The last `XDG_DOCUMENTS_DIR="$HOME/…"` or `="/…"`.
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

    /// A path in one of the folders counts there alone.
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

    /// Why a folder cannot be entered; nil if it can.
    private func problem(withFolder path: String) -> String? {
        do throws(SkipReason) {
            // Before opening, which for a device could do something.
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

    /// Single slashes, no `.`; nil for relative paths, for `/` itself, and for paths with `..` or zero bytes.
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
