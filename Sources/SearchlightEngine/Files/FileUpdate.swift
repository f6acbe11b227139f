// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The result of updating the index from an extension's followed files.
package struct FileUpdate: Hashable, Sendable, Codable {
    /// The extension's bundle identifier.
    package var bundle: String
    /// `true` if files are followed for the extension.
    package var isFollowed = true
    /// The number of changed, moved and removed files that were reported to the extension.
    package var changed = 0
    package var moved = 0
    package var removed = 0
    /// The number of files on the extension's skip list. They are reported again when they change.
    package var setAside = 0
    /// The number of items in the bundle after a pending reindex; `nil` if no reindex was pending.
    package var reindexed: Int?
    /// The missing or unreadable folders. Their items stay in the index.
    package var unavailable: [String] = []
    /// The reason for a failure, in full sentences; the remaining changes stay pending.
    package var problem: String?

    init(bundle: String, isFollowed: Bool = true, unavailable: [String] = []) {
        self.bundle = bundle
        self.isFollowed = isFollowed
        self.unavailable = unavailable
    }

    mutating func add(_ changes: [FileChange]) {
        for change in changes {
            switch change {
            case .changed: changed += 1
            case .moved: moved += 1
            case .removed: removed += 1
            }
        }
    }
}
