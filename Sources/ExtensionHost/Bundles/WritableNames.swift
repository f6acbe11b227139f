// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The rules for `WritablePaths`, based on the names alone when a manifest is read.
/// ``WritableFolders`` checks the real folders when a worker starts.
///
/// This is an allow list. Shells, toolchains, games and services keep code and settings in paths
/// that a deny list cannot cover. The list allows folders named after the extension's app, in the
/// XDG and Flatpak folders for apps, and the user's documents. Hidden names in them are denied,
/// because code and settings among documents (`.git`, `.envrc`, `.vscode`) are hidden.
enum WritableNames {
    /// Returns the reason why a declared path may not be written, based on its names; `nil` if it
    /// may be declared.
    static func reason(_ path: DeclaredPath, _ names: AppNames) -> DenyList.Reason? {
        switch path.base {
        case .home: reason(belowHome: path.names, names)
        case .config, .data, .cache, .state:
            reason(belowHome: (DenyList.usual[path.base] ?? []) + path.names, names)
        case .documents, .download, .music, .pictures, .videos: hidden(path.names[...])
        case .bundle: .elsewhere(names)
        case nil: reason(belowRoot: path.names, names)
        }
    }

    /// Returns `true` if an allowed path is a whole document folder.
    static func isWholeDocuments(_ path: DeclaredPath) -> Bool {
        switch path.base {
        case .home: path.names.count == 1
        case .documents, .download, .music, .pictures, .videos: path.names.isEmpty
        case .config, .data, .cache, .state, .bundle, nil: false
        }
    }

    /// The default names of the document folders. `user-dirs.dirs` can rename them.
    private static let documents: Set<String> = ["Documents", "Downloads", "Music", "Pictures", "Videos"]
    /// The folders that contain apps' folders, below the home folder.
    private static let settings = [".config"]
    private static let bases: [[String]] = [settings, [".local", "share"], [".local", "state"], [".cache"]]
    /// The parts of a Flatpak app's folder that hold data. The app reads its configuration from the
    /// others.
    private static let flatpakKinds: Set<String> = ["data", "cache"]

    private static func reason(belowHome path: [String], _ names: AppNames) -> DenyList.Reason? {
        for base in bases where path.starts(with: base) {
            guard path.count > base.count, names.contains(path[base.count], isSettings: base == settings) else {
                return .elsewhere(names)
            }
            return hidden(path.dropFirst(base.count + 1))
        }
        if path.starts(with: [".var", "app"]) {
            guard path.count > 3, names.contains(path[2]), flatpakKinds.contains(path[3]) else {
                return .elsewhere(names)
            }
            return hidden(path.dropFirst(4))
        }
        guard let first = path.first, documents.contains(first) else { return .elsewhere(names) }
        return hidden(path.dropFirst())
    }

    /// An absolute path is only allowed below a home folder.
    private static func reason(belowRoot path: [String], _ names: AppNames) -> DenyList.Reason? {
        for (folder, depth) in DenyList.homes where path.starts(with: folder) {
            return reason(belowHome: Array(path.dropFirst(folder.count + depth)), names)
        }
        return .elsewhere(names)
    }

    private static func hidden(_ path: ArraySlice<String>) -> DenyList.Reason? {
        path.first { $0.isHiddenName }.map { .hidden($0) }
    }
}
