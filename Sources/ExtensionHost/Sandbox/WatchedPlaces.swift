// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// What is to be watched for an extension on this machine, for this user: what its manifest declares as watched, as far as it may
/// be read.
package struct WatchedPlaces: Hashable, Sendable {
    /// A folder with all below it, or a file.
    package struct Place: Hashable, Sendable {
        /// Its absolute path, as the extension knows it; links on the way are not followed.
        package var path: String
        /// Patterns of the names below it; see ``WatchedPath/names``.
        package var names: [String]
    }

    /// Each once, in the order of the manifest.
    package var places: [Place] = []
    /// The file with the desktop's names of folders, which decide which places these are.
    package var deciding: [String] = []
    /// The files of the user's that list folders for the extension.
    package var lists: [String] = []
    /// Those files that are there and cannot be read. Which places are to be watched is not known then.
    package var unreadable: [String] = []

    /// Works out the places. Asks the file system, which may take its time.
    ///
    /// - Parameters:
    ///   - bundle: The extension.
    ///   - configuration: Whose user's folders count.
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
            let listed = Set(policy.lists.map(\.declared))
            for path in paths where !path.isList {
                guard let start = folders.path(path.start, bundle: bundle.directory),
                    policy.grants.contains(where: { !listed.contains($0.declared) && lies(start, in: $0.path) }),
                    policy.isReadableForGood(start)
                else { continue }
                add(Place(path: start, names: path.names))
            }
        }
    }

    private mutating func add(_ place: Place) { if !places.contains(place) { places.append(place) } }
}
