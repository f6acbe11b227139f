// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// How the index was brought up to date with the files of one extension.
package struct FileUpdate: Hashable, Sendable, Codable {
    /// Whose files these are.
    package var bundle: String
    /// Whether files are followed for it at all.
    package var isFollowed = true
    /// Files that it was told of.
    package var changed = 0
    package var moved = 0
    package var removed = 0
    /// Files with which the extension failed again and again; they are told again when they change.
    package var setAside = 0
    /// How many items it has since it was asked for more than that; `nil` if nothing else was owed.
    package var reindexed: Int?
    /// Places that are not there or cannot be read; what was found in them stays.
    package var unavailable: [String] = []
    /// Why that failed, as a sentence or more; the rest is pending.
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
