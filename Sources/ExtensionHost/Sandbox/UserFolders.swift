// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// The user's folders according to the desktop's variables (the XDG Base Directory specification
/// and `user-dirs.dirs`). `nil` if there is no home folder.
package struct UserFolders: Sendable {
    package let home: String
    package let config: String
    package let data: String
    package let cache: String
    package let state: String
    /// The folders in `user-dirs.dirs` that the desktop has.
    private let named: [NamedFolder: String]
    /// The documents folder; `nil` if the desktop has none.
    package var documents: String? { named[.documents] }
    /// The folders with data shared by all programs, in order of precedence.
    package let sharedData: [String]

    /// `true` if `user-dirs.dirs` exists but cannot be read, so that the folders may differ.
    let isSettingsFileUnreadable: Bool

    /// The maximum size of `user-dirs.dirs`, in bytes.
    static let maximumSettingsBytes = 64 << 10

    package init?(environment: [String: String]) {
        let folders = BaseDirectories(environment: environment, absolute: Self.absolute)
        guard let home = folders.home, let config = folders.config, let data = folders.data, let cache = folders.cache,
            let state = folders.state
        else { return nil }
        (self.home, self.config, self.data, self.cache, self.state) = (home, config, data, cache, state)
        sharedData = folders.sharedData
        let text = SmallFile.text(at: config + Self.settingsName, limit: Self.maximumSettingsBytes)
        isSettingsFileUnreadable = text == nil && access(config + Self.settingsName, F_OK) == 0
        let found = text.map { Self.namedFolders(in: $0, home: home) } ?? [:]
        // An entry that names the home folder itself means that there is no such folder.
        named = Dictionary(
            uniqueKeysWithValues: NamedFolder.allCases.map { ($0, found[$0] ?? home + "/" + $0.usualName) }
        ).filter { $0.value != home }
    }

    /// The folders that `user-dirs.dirs` can name.
    enum NamedFolder: String, CaseIterable {
        case documents = "XDG_DOCUMENTS_DIR"
        case download = "XDG_DOWNLOAD_DIR"
        case music = "XDG_MUSIC_DIR"
        case pictures = "XDG_PICTURES_DIR"
        case videos = "XDG_VIDEOS_DIR"
        case desktop = "XDG_DESKTOP_DIR"
        case templates = "XDG_TEMPLATES_DIR"
        case publicShare = "XDG_PUBLICSHARE_DIR"

        /// The default name of the folder.
        var usualName: String {
            switch self {
            case .documents: "Documents"
            case .download: "Downloads"
            case .music: "Music"
            case .pictures: "Pictures"
            case .videos: "Videos"
            case .desktop: "Desktop"
            case .templates: "Templates"
            case .publicShare: "Public"
            }
        }
    }

    /// Returns one of these folders; `nil` if the desktop does not have it.
    func folder(_ kind: NamedFolder) -> String? { named[kind] }
    /// The folders for documents.
    var documentFolders: [String] {
        [NamedFolder.documents, .download, .music, .pictures, .videos].compactMap { named[$0] }
    }

    /// The file that names the document folders.
    var settings: String { config + Self.settingsName }
    private static let settingsName = "/user-dirs.dirs"

    /// Returns the absolute path of a declared path; `nil` if the user has no such folder.
    func path(_ declared: DeclaredPath, bundle: String) -> String? {
        let start: String? =
            switch declared.base {
            case nil: ""
            case .home: home
            case .config: config
            case .data: data
            case .cache: cache
            case .state: state
            case .documents: named[.documents]
            case .download: named[.download]
            case .music: named[.music]
            case .pictures: named[.pictures]
            case .videos: named[.videos]
            case .bundle: bundle
            }
        return start.map { ([$0] + declared.names).joined(separator: "/") }
    }

    /// Returns the last `XDG_…_DIR="$HOME/…"` or `="/…"` entry for each folder.
    private static func namedFolders(in text: String, home: String) -> [NamedFolder: String] {
        var found: [NamedFolder: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let kind = NamedFolder(rawValue: parts[0].trimmingCharacters(in: .whitespaces))
            else { continue }
            let quoted = parts[1].trimmingCharacters(in: .whitespaces)
            guard quoted.count >= 2, quoted.hasPrefix("\""), quoted.hasSuffix("\"") else { continue }
            let value = String(quoted.dropFirst().dropLast())
            let isBelowHome = value == "$HOME" || value.hasPrefix("$HOME/")
            found[kind] = absolute(isBelowHome ? home + value.dropFirst("$HOME".count) : value) ?? found[kind]
        }
        return found
    }

    /// Returns an absolute path without `.` and doubled slashes; `nil` for `/`, relative paths and
    /// paths with `..`.
    static func absolute(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count <= Int(PATH_MAX) else {
            return nil
        }
        let names = pathNames(path).filter { $0 != "." }
        return names.isEmpty || names.contains("..") ? nil : "/" + names.joined(separator: "/")
    }
}

/// Reads the user's small files, whose contents are untrusted.
enum SmallFile {
    /// Returns the text of a regular file up to a size limit; otherwise `nil`.
    static func text(at path: String, limit: Int) -> String? {
        guard let bytes = try? BoundedFile.regular(path, limit: limit) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns a path without links; `nil` if it does not exist or has too many links.
    static func resolved(_ path: String) -> String? {
        guard let found = try? FollowedPath(path), found.isThere else { return nil }
        return found.path
    }
}
