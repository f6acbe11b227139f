// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceProtocol

/// Where a person's files are, by the variables of the desktop (the XDG Base Directory specification and
/// `user-dirs.dirs`). Without a home folder there are none.
package struct UserFolders: Sendable {
    package let home: String
    package let config: String
    package let data: String
    package let cache: String
    /// The folder for documents; `nil` if the desktop has none.
    package let documents: String?
    /// Where the shared files of all programs are, first wins.
    package let sharedData: [String]

    /// The largest `user-dirs.dirs` that is read, in bytes.
    static let maximumSettingsBytes = 64 << 10

    package init?(environment: [String: String]) {
        let folders = BaseDirectories(environment: environment, absolute: Self.absolute)
        guard let home = folders.home, let config = folders.config, let data = folders.data, let cache = folders.cache
        else { return nil }
        (self.home, self.config, self.data, self.cache) = (home, config, data, cache)
        sharedData = folders.sharedData
        let named = SmallFile.text(at: config + Self.settingsName, limit: Self.maximumSettingsBytes)
            .flatMap { Self.documentsFolder(in: $0, home: home) }
        // The home folder itself means that there is none.
        let documents = named ?? home + "/Documents"
        self.documents = documents == home ? nil : documents
    }

    /// The file that says where the folder for documents is.
    var settings: String { config + Self.settingsName }
    private static let settingsName = "/user-dirs.dirs"

    /// A path for a person; `nil` where there is no such folder.
    func path(_ declared: DeclaredPath, bundle: String) -> String? {
        let start: String? =
            switch declared.base {
            case nil: ""
            case .home: home
            case .config: config
            case .data: data
            case .cache: cache
            case .documents: documents
            case .bundle: bundle
            }
        return start.map { ([$0] + declared.names).joined(separator: "/") }
    }

    /// The last `XDG_DOCUMENTS_DIR="$HOME/…"` or `="/…"`.
    private static func documentsFolder(in text: String, home: String) -> String? {
        var found: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == "XDG_DOCUMENTS_DIR" else {
                continue
            }
            let quoted = parts[1].trimmingCharacters(in: .whitespaces)
            guard quoted.count >= 2, quoted.hasPrefix("\""), quoted.hasSuffix("\"") else { continue }
            let value = String(quoted.dropFirst().dropLast())
            let isBelowHome = value == "$HOME" || value.hasPrefix("$HOME/")
            found = absolute(isBelowHome ? home + value.dropFirst("$HOME".count) : value) ?? found
        }
        return found
    }

    /// An absolute path without `.`, `..` and doubled slashes; `nil` for anything else, and for `/`.
    static func absolute(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count <= Int(PATH_MAX) else {
            return nil
        }
        let names = path.split(separator: "/").filter { $0 != "." }
        return names.isEmpty || names.contains("..") ? nil : "/" + names.joined(separator: "/")
    }
}

/// Small files of a person's, which may be anything.
enum SmallFile {
    /// The text of a regular file up to a size; `nil` otherwise.
    static func text(at path: String, limit: Int) -> String? {
        guard let bytes = try? BoundedFile.regular(path, limit: limit) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A path without links; `nil` if there is nothing.
    static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// A path without links, as far as there is something; one that leads to nothing yet is followed too.
    static func resolvedSoFar(_ path: String, links: Int = 32) -> String {
        if let found = resolved(path) { return found }
        guard let slash = path.lastIndex(of: "/"), path != "/" else { return path }
        let parent = slash == path.startIndex ? "/" : String(path[..<slash])
        let above = resolvedSoFar(parent, links: links)
        let name = path[path.index(after: slash)...]
        if name == "." || name.isEmpty { return above }
        if name == ".." {
            return above.lastIndex(of: "/").map { $0 == above.startIndex ? "/" : String(above[..<$0]) } ?? "/"
        }
        let here = (above == "/" ? "" : above) + "/" + name
        guard links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: here) else {
            return here
        }
        return resolvedSoFar(target.hasPrefix("/") ? target : above + "/" + target, links: links - 1)
    }
}

/// Whether a path is another one or lies below it; both absolute and without `.` and `..`.
func lies(_ path: String, in folder: String) -> Bool {
    path.utf8.starts(with: folder.utf8)
        && (path.utf8.count == folder.utf8.count || folder == "/"
            || path.utf8[path.utf8.index(path.utf8.startIndex, offsetBy: folder.utf8.count)] == UInt8(ascii: "/"))
}
