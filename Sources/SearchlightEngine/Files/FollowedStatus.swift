// SPDX-License-Identifier: Apache-2.0
import FileWatching
import Foundation

/// What is followed for extensions, and how.
package struct FollowedStatus: Hashable, Sendable, Codable {
    /// A folder with all below it, or a file.
    package struct Place: Hashable, Sendable, Codable {
        /// How a place is followed.
        package enum State: String, Sendable, Codable {
            /// Changes are noticed at once.
            case watched
            /// It is looked at every few minutes.
            case polled
            /// It was not compared yet.
            case waiting
            /// There is nothing at the path.
            case missing
            /// It, or part of it, is not there or cannot be read, so what was found stays.
            case unavailable
            /// It cannot be followed.
            case failed
            /// No service runs.
            case unfollowed
        }
        /// Whose files these are.
        package var bundle: String
        /// The absolute path.
        package var path: String
        /// Patterns of the names below it.
        package var names: [String]
        /// How it is followed.
        package var state: State
        /// Why it is not watched, as a part of a sentence.
        package var reason: String?

        package init(bundle: String, path: String, names: [String] = [], state: State, reason: String? = nil) {
            (self.bundle, self.path, self.names, self.state, self.reason) = (bundle, path, names, state, reason)
        }
    }
    /// Changed files that an extension was not told of yet.
    package struct Pending: Hashable, Sendable, Codable {
        /// Whose files these are.
        package var bundle: String
        /// How many there are.
        package var files: Int
        /// Since when, in seconds since 2001-01-01 UTC.
        package var since: Double
    }

    /// By bundle and path.
    package var places: [Place] = []
    /// By bundle.
    package var pending: [Pending] = []
    /// Watches that the kernel keeps for it.
    package var watches = 0
    /// How many watches the kernel allows a user; `nil` if that is not known.
    package var watchLimit = Self.limit
    /// Folders that could not be watched.
    package var unwatchedFolders = 0

    /// What is to be followed where nobody does.
    package init(unfollowed trees: [WatchedTree] = []) {
        places = trees.map {
            Place(bundle: $0.owner, path: $0.root, names: $0.names, state: .unfollowed)
        }.sorted { ($0.bundle, $0.path) < ($1.bundle, $1.path) }
    }

    /// What cannot be followed, and why.
    package init(failed trees: [WatchedTree], because reason: String) {
        self.init(unfollowed: trees.filter { SearchlightEngine.isBundle($0.owner) })
        for place in places.indices {
            (places[place].state, places[place].reason) = (.failed, withoutFullStop(reason))
        }
    }

    /// What a watcher says.
    package init(_ status: FileWatcher.Status) {
        places = status.trees.map { tree, state in
            var place = Place(bundle: tree.owner, path: tree.root, names: tree.names, state: .watched)
            switch state {
            case .watched: break
            case .waiting: place.state = .waiting
            case .missing: place.state = .missing
            case .unavailable(let places):
                (place.state, place.reason) = (
                    .unavailable, "not there or not readable: \(places.joined(separator: ", "))"
                )
            case .silent: (place.state, place.reason) = (.unavailable, "its file system does not answer")
            case .failed(let reason): (place.state, place.reason) = (.failed, withoutFullStop(reason))
            }
            if place.state == .watched, let polling = status.polled[tree] {
                place.state = .polled
                place.reason =
                    switch polling {
                    case .unwatched: "the kernel allows no more watches"
                    case .shared: "others may change it unseen (a network or FUSE file system)"
                    }
            }
            return place
        }.filter { SearchlightEngine.isBundle($0.bundle) }.sorted { ($0.bundle, $0.path) < ($1.bundle, $1.path) }
        watches = status.watches
        unwatchedFolders = status.unwatchedFolders
    }

    /// The place where the kernel says how many watches it allows a user.
    package static let limitFile = "/proc/sys/fs/inotify/max_user_watches"

    private static var limit: Int? {
        (try? String(contentsOfFile: limitFile, encoding: .utf8)).flatMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}
