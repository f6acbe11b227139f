// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// What `WritablePaths` may name, judged by the name alone when a manifest is read; ``WritableFolders`` judges what it leads
/// to on a machine.
///
/// A list of what is open, not of what is closed: shells, toolchains, games and services keep what they run and read in places
/// that nobody here knows, and there are more every year. Open are folders named as the extension's app is, in the
/// folders that XDG and Flatpak have for apps, and the user's documents. A hidden name is closed there too, since what keeps
/// code or settings among documents (`.git`, `.envrc`, `.vscode`) hides it.
enum WritableNames {
    /// Why a declared path is closed, as far as its name tells; `nil` if it may be declared.
    static func reason(_ path: DeclaredPath, _ names: AppNames) -> ClosedPlaces.Reason? {
        switch path.base {
        case .home: reason(belowHome: path.names, names)
        case .config, .data, .cache, .state:
            reason(belowHome: (ClosedPlaces.usual[path.base] ?? []) + path.names, names)
        case .documents, .download, .music, .pictures, .videos: hidden(path.names[...])
        case .bundle: .elsewhere(names)
        case nil: reason(belowRoot: path.names, names)
        }
    }

    /// Whether a path that may be declared is a folder for documents as a whole, with all that the user keeps there.
    static func isWholeDocuments(_ path: DeclaredPath) -> Bool {
        switch path.base {
        case .home: path.names.count == 1
        case .documents, .download, .music, .pictures, .videos: path.names.isEmpty
        case .config, .data, .cache, .state, .bundle, nil: false
        }
    }

    /// The folders for documents, as they are called unless `user-dirs.dirs` says otherwise.
    private static let documents: Set<String> = ["Documents", "Downloads", "Music", "Pictures", "Videos"]
    /// Where the folders of apps are, below the home folder.
    private static let settings = [".config"]
    private static let bases: [[String]] = [settings, [".local", "share"], [".local", "state"], [".cache"]]
    /// What of an app in a Flatpak is data. Its settings are what it is configured from.
    private static let flatpakKinds: Set<String> = ["data", "cache"]

    private static func reason(belowHome path: [String], _ names: AppNames) -> ClosedPlaces.Reason? {
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

    /// An absolute path is one below somebody's home folder, or nobody's.
    private static func reason(belowRoot path: [String], _ names: AppNames) -> ClosedPlaces.Reason? {
        for (folder, depth) in ClosedPlaces.homes where path.starts(with: folder) {
            return reason(belowHome: Array(path.dropFirst(folder.count + depth)), names)
        }
        return .elsewhere(names)
    }

    private static func hidden(_ path: ArraySlice<String>) -> ClosedPlaces.Reason? {
        path.first { $0.isHiddenName }.map { .hidden($0) }
    }
}
