// SPDX-License-Identifier: Apache-2.0
import FileWatching
import Foundation

/// The status of the files that are followed for extensions.
package struct FollowedStatus: Hashable, Sendable, Codable {
    /// A followed folder with its contents, or a followed file.
    package struct Place: Hashable, Sendable, Codable {
        /// The state of a followed path.
        package enum State: String, Sendable, Codable {
            /// inotify reports changes immediately.
            case watched
            /// The path is compared every few minutes.
            case polled
            /// The first comparison is pending.
            case waiting
            /// No file exists at the path.
            case missing
            /// The path, or part of its contents, is missing or unreadable. The indexed items are
            /// kept.
            case unavailable
            /// The path cannot be followed.
            case failed
            /// No service is running.
            case unfollowed
        }
        /// The extension's bundle identifier.
        package var bundle: String
        /// The absolute path.
        package var path: String
        /// The patterns for file names in the folder.
        package var names: [String]
        /// The state of the path.
        package var state: State
        /// The reason why the path is not watched, as part of a sentence.
        package var reason: String?

        package init(bundle: String, path: String, names: [String] = [], state: State, reason: String? = nil) {
            (self.bundle, self.path, self.names, self.state, self.reason) = (bundle, path, names, state, reason)
        }
    }
    /// The changed files that have not been reported to an extension yet.
    package struct Pending: Hashable, Sendable, Codable {
        /// The extension's bundle identifier.
        package var bundle: String
        /// The number of files.
        package var files: Int
        /// The time of the first change, in seconds since 2001-01-01 UTC.
        package var since: Double
    }

    /// The followed paths of enabled extensions, sorted by bundle and path. The service also
    /// watches the paths of a disabled extension, which matters once the extension is enabled
    /// again.
    package var places: [Place] = []
    /// The unreported changes, by bundle.
    package var pending: [Pending] = []
    /// The number of inotify watches in use.
    package var watches = 0
    /// The maximum number of inotify watches per user; `nil` if unknown.
    package var watchLimit = Self.limit
    /// The number of folders that could not be watched.
    package var unwatchedFolders = 0

    /// Creates the status of trees that no process follows.
    package init(unfollowed trees: [WatchedTree] = []) {
        places = trees.map {
            Place(bundle: $0.owner, path: $0.root, names: $0.names, state: .unfollowed)
        }.sorted { ($0.bundle, $0.path) < ($1.bundle, $1.path) }
    }

    /// Creates the status of trees that cannot be followed, with the reason.
    package init(failed trees: [WatchedTree], because reason: String) {
        self.init(unfollowed: trees.filter { SearchlightEngine.isBundle($0.owner) })
        for place in places.indices {
            (places[place].state, places[place].reason) = (.failed, withoutFullStop(reason))
        }
    }

    /// Creates the status that a file watcher reports.
    package init(_ status: FileWatcher.Status) {
        places = status.trees.map { tree, state in
            var place = Place(bundle: tree.owner, path: tree.root, names: tree.names, state: .watched)
            switch state {
            case .watched: break
            case .waiting: place.state = .waiting
            case .missing: place.state = .missing
            case .unavailable(let places):
                (place.state, place.reason) = (
                    .unavailable, "missing or not readable: \(TreeReport.shown(places).joined(separator: ", "))"
                )
            case .silent: (place.state, place.reason) = (.unavailable, "its file system does not answer")
            case .failed(let reason): (place.state, place.reason) = (.failed, withoutFullStop(reason))
            }
            if place.state == .watched, let polling = status.polled[tree] {
                place.state = .polled
                place.reason =
                    switch polling {
                    case .unwatched: "the kernel allows no more watches"
                    case .shared: "its changes are not always reported (a network or FUSE file system)"
                    }
            }
            return place
        }.filter { SearchlightEngine.isBundle($0.bundle) }.sorted { ($0.bundle, $0.path) < ($1.bundle, $1.path) }
        watches = status.watches
        unwatchedFolders = status.unwatchedFolders
    }

    /// Returns the status with only the paths of some bundles.
    package func limited(to isIncluded: (_ bundle: String) -> Bool) -> FollowedStatus {
        var status = self
        status.places.removeAll { !isIncluded($0.bundle) }
        return status
    }

    /// The kernel's file with the maximum number of inotify watches per user.
    package static let limitFile = "/proc/sys/fs/inotify/max_user_watches"

    private static var limit: Int? {
        (try? String(contentsOfFile: limitFile, encoding: .utf8)).flatMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
