// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The files and folders to watch for an extension on this machine, for this user: the watched
/// paths in the manifest that are granted for reading.
package struct WatchedPlaces: Hashable, Sendable {
    /// A folder with its whole subtree, or a file.
    package struct Place: Hashable, Sendable {
        /// The absolute path, as the extension knows it, with links not resolved.
        package var path: String
        /// Patterns for the names below the path; see ``WatchedPath/names``.
        package var names: [String]
    }

    /// The paths, each once, in the order of the manifest.
    package var places: [Place] = []
    /// The desktop's file of folder names, which determines the watched paths.
    package var deciding: [String] = []
    /// The user's files that list folders for the extension.
    package var lists: [String] = []
    /// The watched paths that the user lists in these files.
    package var listed: [String] = []
    /// The list files that exist but cannot be read. The watched paths are then unknown.
    package var unreadable: [String] = []

    /// Determines the paths. Queries the file system, which may block.
    ///
    /// - Parameters:
    ///   - bundle: The extension.
    ///   - configuration: The configuration with the user's environment.
    package init(of bundle: ExtensionBundle, _ configuration: WorkerConfiguration) {
        let wanted = bundle.manifest.access.watchedPaths
        guard wanted != .none, let folders = UserFolders(environment: configuration.environment) else { return }
        var configuration = configuration
        configuration.sandbox = .enforced
        let policy = SandboxPolicy(bundle, configuration, temporaryFolder: nil)
        deciding = [folders.settings]
        lists = policy.lists.map(\.path)
        if folders.isSettingsFileUnreadable { unreadable = [folders.settings] }
        unreadable += policy.unreadableLists.map(\.path)
        let listing = Set(policy.lists.map(\.declared))
        defer {
            let paths = Set(policy.grants.lazy.filter { listing.contains($0.declared) }.map(\.path))
            listed = places.map(\.path).filter(paths.contains)
        }
        switch wanted {
        case .none: break
        case .all:
            for grant in policy.grants { add(Place(path: grant.path, names: [])) }
        case .some(let paths):
            for path in paths where path.isList {
                for grant in policy.grants where grant.declared == path.start {
                    add(Place(path: grant.path, names: []))
                }
            }
            for path in paths where !path.isList {
                guard let start = folders.path(path.start, bundle: bundle.directory),
                    policy.grants.contains(where: { !listing.contains($0.declared) && lies(start, in: $0.path) }),
                    policy.isReadableForGood(start)
                else { continue }
                add(Place(path: start, names: path.names))
            }
        }
    }

    private mutating func add(_ place: Place) { if !places.contains(place) { places.append(place) } }
}
