// SPDX-License-Identifier: Apache-2.0
import DatabaseBindings
import Glibc

/// One of a binding's database files.
struct DatabaseFile: Hashable, Sendable {
    /// The absolute path, with links not resolved.
    let path: String
    /// The tag in the identifiers of its items; empty if there can be only one file.
    let tag: String

    /// The name of the index whose client state contains the digests of the file's rows. It has no
    /// items.
    var stateIndex: String { "rows" + (tag.isEmpty ? "" : "." + tag) }
    /// The folder that the file is in.
    var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/" }
}

/// A binding's database files: the expanded paths from the manifest, and the files that they match
/// now.
struct DatabaseFiles: Sendable {
    /// A path in the manifest.
    private struct Pattern: Sendable {
        /// The path as written in the manifest.
        let text: String
        /// The absolute path of the folder before the first name with `*`, or of the file's folder.
        let start: String
        /// The names below it, which may contain `*`.
        let names: [String]
    }
    /// The files, and the paths that match no file.
    struct Found {
        var files: [DatabaseFile] = []
        /// Paths in the manifest that have no file but whose folder exists.
        var absent: [String] = []
        /// Paths in the manifest whose folder does not exist, for example because a disk is not
        /// mounted.
        var away: [String] = []
        /// `true` if there are more than ``DatabaseLimits/matchedFiles`` files.
        var isCut = false
    }
    private let patterns: [Pattern]
    /// `true` if there can be several files, so that identifiers have tags.
    let hasTags: Bool

    /// The maximum number of names that are compared in a folder.
    private static let maximumNames = 100_000
    /// The suffixes of files that SQLite keeps next to a database.
    private static let companions = ["-wal", "-journal", "-shm"]

    init(_ binding: DatabaseBinding) {
        patterns = binding.files.compactMap { text in
            guard let path = FileURL.expanded(text) else { return nil }
            let names = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
            guard !names.isEmpty else { return nil }
            let first = min(names.firstIndex { $0.contains("*") } ?? names.count, names.count - 1)
            return Pattern(
                text: text, start: "/" + names[..<first].joined(separator: "/"), names: Array(names[first...]))
        }
        hasTags = binding.files.count > 1 || patterns.contains { $0.names.contains { $0.contains("*") } }
    }

    /// Finds the files, sorted by path, at most ``DatabaseLimits/matchedFiles``.
    func find() -> Found {
        var found = Found()
        var paths: Set<String> = []
        for pattern in patterns {
            guard Self.isFolder(pattern.start) else {
                found.away.append(pattern.text)
                continue
            }
            var matches = [pattern.start]
            for (level, name) in pattern.names.enumerated() {
                let isLast = level == pattern.names.count - 1
                matches = matches.flatMap { Self.matches(of: name, in: $0) }
                    .filter { isLast ? Self.isThere($0, isPattern: name.contains("*")) : Self.isFolder($0) }
            }
            if matches.isEmpty { found.absent.append(pattern.text) }
            paths.formUnion(matches)
        }
        found.files = paths.sorted().prefix(DatabaseLimits.matchedFiles).map(file)
        found.isCut = paths.count > DatabaseLimits.matchedFiles
        return found
    }

    /// Returns the database that a changed path belongs to: the file itself, its log or its
    /// journal. Returns `nil` if the manifest names no such file.
    func database(of path: String) -> DatabaseFile? {
        let companion = Self.companions.first { path.hasSuffix($0) }
        let database = companion.map { String(path.dropLast($0.count)) } ?? path
        let names = database.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let isNamed = patterns.contains { pattern in
            let start = pattern.start.split(separator: "/").map(String.init)
            return names.count == start.count + pattern.names.count && names.starts(with: start)
                && zip(pattern.names, names[start.count...]).allSatisfy { Self.isMatch($1, $0) }
        }
        return isNamed ? file(database) : nil
    }

    /// Returns `true` if a file's folder exists, so that a missing file must have been removed.
    static func isFolderThere(of file: DatabaseFile) -> Bool { isFolder(file.folder) }

    /// Returns `true` if something exists at a path, whether or not it is a regular file.
    static func isThere(_ path: String) -> Bool { mode(path) != nil }

    /// Returns `true` if a path is one of the files. A name without `*` may be a pipe or a folder:
    /// reading it fails, and its items are kept.
    private static func isThere(_ path: String, isPattern: Bool) -> Bool {
        isPattern ? mode(path) == S_IFREG : isThere(path)
    }
    private static func isFolder(_ path: String) -> Bool {
        guard mode(path) == S_IFDIR, let stream = opendir(path) else { return false }
        closedir(stream)
        return true
    }

    /// Returns the file type at a path; `nil` if nothing exists there. A path that may not be
    /// examined has the type 0.
    private static func mode(_ path: String) -> mode_t? {
        var status = stat()
        if stat(path, &status) == 0 { return status.st_mode & S_IFMT }
        return errno == ENOENT || errno == ENOTDIR ? nil : 0
    }

    private func file(_ path: String) -> DatabaseFile {
        DatabaseFile(path: path, tag: hasTags ? RowIdentifier.tag(of: path) : "")
    }

    private static func matches(of name: String, in folder: String) -> [String] {
        let base = folder == "/" ? "/" : folder + "/"
        guard name.contains("*") else { return [base + name] }
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var (matches, rest): ([String], Int) = ([], maximumNames)
        while let entry = readdir(stream), rest > 0 {
            rest -= 1
            let found = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(validatingCString: $0) }
            }
            guard let found, found != ".", found != "..", isMatch(found, name) else { continue }
            matches.append(base + found)
        }
        return matches.sorted()
    }

    /// Returns `true` if a name matches a pattern, in which `*` matches any characters.
    static func isMatch(_ name: String, _ pattern: String) -> Bool {
        let (name, pattern) = (Array(name.utf8), Array(pattern.utf8))
        var (place, wanted) = (0, 0)
        var retry: (place: Int, wanted: Int)?
        while place < name.count {
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                retry = (place, wanted)
                wanted += 1
            } else if wanted < pattern.count, pattern[wanted] == name[place] {
                (place, wanted) = (place + 1, wanted + 1)
            } else if let last = retry {
                retry = (last.place + 1, last.wanted)
                (place, wanted) = (last.place + 1, last.wanted + 1)
            } else {
                return false
            }
        }
        return pattern[wanted...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
