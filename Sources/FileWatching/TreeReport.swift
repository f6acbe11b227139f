// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// What was met while a tree was compared.
package struct TreeReport: Hashable, Sendable {
    /// Folders and files that were looked at.
    package var folders = 0
    package var files = 0
    /// Places that are not there or cannot be read, which proves nothing: their files stay as they were.
    package var unavailable: [String] = []
    /// Folders beyond ``WatchedTree/Limit``: what is known of them stays as it was.
    package var beyondLimits: [String] = []
    /// Whether something differs from before.
    package var hasNews = false
    /// Whether something is to be tried again soon, since the system had no room for it.
    package var needsRetry = false
    /// Whether some of it is on a file system that others can change unseen.
    package var isShared = false
    /// Whether the whole tree has to be compared.
    var needsWholeTree = false
    /// Folders that could not be watched.
    var unwatched = 0
    /// Files that are to be looked at again in a few seconds, since they may change once more without another time.
    var unsettled: [Int64: Set<EntryName>] = [:]
    /// Other names of files that changed, hard and symbolic links: nothing is told of a file's other names.
    var otherNames: [Int64: Set<EntryName>] = [:]
    /// Whether there are more of these than are named.
    var hasMoreNames = false

    /// The most places that are named.
    static let maximumPlaces = 16
    /// The most names that are to be looked at again; what is beyond differs at the next comparison.
    static let maximumUnsettled = 1024

    /// The most other names of files that are to be looked at.
    static let maximumOtherNames = 1024

    /// Notes that something cannot be looked at.
    mutating func note(_ error: ErrnoCode, at path: String?) {
        if error.isWantOfRoom { needsRetry = true }
        if let path { noteUnavailable(path) }
    }

    mutating func noteUnavailable(_ path: String) {
        if unavailable.count < Self.maximumPlaces, !unavailable.contains(path) { unavailable.append(path) }
    }

    mutating func noteBeyondLimits(_ path: String) {
        if beyondLimits.count < Self.maximumPlaces { beyondLimits.append(path) }
    }

    mutating func noteUnsettled(_ name: EntryName, in folder: Int64) {
        guard unsettled.values.lazy.map(\.count).reduce(0, +) < Self.maximumUnsettled else { return }
        unsettled[folder, default: []].insert(name)
    }

    mutating func noteOtherName(_ name: EntryName, in folder: Int64) {
        guard otherNames.values.lazy.map(\.count).reduce(0, +) < Self.maximumOtherNames else {
            hasMoreNames = true
            return
        }
        otherNames[folder, default: []].insert(name)
    }

    /// Adds what was met in another tree, or another part.
    package mutating func add(_ other: TreeReport) {
        folders += other.folders
        files += other.files
        for path in other.unavailable { noteUnavailable(path) }
        for path in other.beyondLimits { noteBeyondLimits(path) }
        hasNews = hasNews || other.hasNews
        needsRetry = needsRetry || other.needsRetry
        isShared = isShared || other.isShared
        needsWholeTree = needsWholeTree || other.needsWholeTree
        unwatched += other.unwatched
        for (folder, names) in other.unsettled { for name in names { noteUnsettled(name, in: folder) } }
        for (folder, names) in other.otherNames { for name in names { noteOtherName(name, in: folder) } }
        hasMoreNames = hasMoreNames || other.hasMoreNames
    }
}
