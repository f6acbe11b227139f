// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Which folders Journal serves.
///
/// `$XDG_CONFIG_HOME/com.searchlight.journal/folders` has one path per line; lines that begin with `#` are comments and
/// `~/` is the home directory. Without that file it is the documents folder of the desktop (`XDG_DOCUMENTS_DIR` of
/// `user-dirs.dirs`, else `~/Documents`) if there is one.
package struct JournalSettings: Sendable, Equatable {
    /// Larger settings are refused, in bytes.
    static let maximumSize = 64 << 10

    /// Absolute paths of folders that exist, without a slash at the end, each once.
    package var folders: [String] = []
    /// What is wrong with single folders, one line each.
    package var problems: [String] = []

    private let home: String

    /// Reads the settings of the person whose environment this is.
    ///
    /// - Parameter environment: `HOME` and `XDG_CONFIG_HOME` are looked at
    /// - Throws: if the settings are there and cannot be read: then it is not known which folders are meant
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) throws(Skip) {
        home = Self.absolute(environment["HOME"]) ?? Self.normalized(NSHomeDirectory()) ?? "/"
        let configuration = Self.absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
        let file = configuration + "/com.searchlight.journal/folders"
        switch Self.contents(of: file) {
        case .success(let text): readFolders(text, from: file)
        case .failure(.vanished): takeDocuments(userDirectories: configuration + "/user-dirs.dirs")
        case .failure(let reason): throw Skip(path: file, reason: reason)
        }
    }

    package var noteFolders: NoteFolders { NoteFolders(paths: folders) }

    private mutating func readFolders(_ text: String, from file: String) {
        for (number, line) in LineIterator(text[...]).enumerated() {
            let line = String(line).trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            let expanded = line == "~" ? home : line.hasPrefix("~/") ? home + line.dropFirst() : line
            if let path = Self.normalized(expanded) {
                add(path)
            } else {
                problems.append(
                    "\(file.onOneLine), line \(number + 1): \(line.onOneLine) is not an absolute path below / without .."
                )
            }
        }
    }

    private mutating func takeDocuments(userDirectories file: String) {
        var documents = home + "/Documents"
        switch Self.contents(of: file) {
        case .success(let text):
            if let named = documentsFolder(in: text) {
                // The home directory itself means that there is no such folder.
                if named == home { return }
                documents = named
            }
        case .failure(.vanished): break
        case .failure(let reason): problems.append(Skip(path: file, reason: reason).description)
        }
        if Self.type(of: documents) == .success(.directory) { folders = [documents] }
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

    private mutating func add(_ path: String) {
        switch Self.type(of: path) {
        case .success(.directory):
            if !folders.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { folders.append(path) }
        case .success(let type): problems.append("skipped \(path.onOneLine): not a folder but \(type)")
        case .failure(.vanished): problems.append("skipped \(path.onOneLine): no such folder")
        case .failure(let reason): problems.append(Skip(path: path, reason: reason).description)
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
            return try opened.read(path: path, directories: [], kind: .plainText).text
        }
    }
}
