// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The results of comparing a watched tree with the snapshot.
package struct TreeReport: Hashable, Sendable {
    /// The number of folders that were read, and the number of files in them.
    package var folders = 0
    package var files = 0
    /// Paths that do not exist or cannot be read. Their files stay as they were, because this does
    /// not prove that they were removed.
    package var unavailable: [String] = []
    /// The same paths.
    private var knownUnavailable: Set<String> = []
    /// `true` if there are more such paths than `unavailable` can hold.
    package var hasMoreUnavailable = false
    /// Folders beyond ``WatchedTree/Limit``. Their stored state is kept.
    package var beyondLimits: [String] = []
    /// `true` if a difference was written.
    package var hasNews = false
    /// `true` if the comparison must be repeated soon, because the system lacked resources.
    package var needsRetry = false
    /// `true` if part of the tree is on a file system that others can change without notice.
    package var isShared = false
    /// `true` if the whole tree must be compared.
    var needsWholeTree = false
    /// The number of folders that could not be watched.
    var unwatched = 0
    /// Files that must be checked again in a few seconds, because they may change again without
    /// getting a new time.
    var unsettled: [Int64: Set<EntryName>] = [:]
    /// Other hard and symbolic links of changed files. The kernel reports no event for them.
    var otherNames: [Int64: Set<EntryName>] = [:]
    /// `true` if there are more other names than `otherNames` can hold.
    var hasMoreNames = false

    /// The maximum number of folders beyond the limits that are reported.
    static let maximumPlaces = 16
    /// The maximum number of unavailable paths. Up to this number, a reindex keeps only the items
    /// in these paths.
    static let maximumUnavailable = 4096
    /// The number of unavailable paths that are shown to the user.
    package static let shownUnavailable = 16
    /// The maximum number of unsettled names. Names beyond it differ at the next comparison.
    static let maximumUnsettled = 1024

    /// The maximum number of other names.
    static let maximumOtherNames = 1024

    /// Records that a path cannot be read.
    mutating func note(_ error: ErrnoCode, at path: String?) {
        if error.isWantOfRoom { needsRetry = true }
        if let path { noteUnavailable(path) }
    }

    mutating func noteUnavailable(_ path: String) {
        if knownUnavailable.contains(path) { return }
        guard unavailable.count < Self.maximumUnavailable else {
            hasMoreUnavailable = true
            return
        }
        knownUnavailable.insert(path)
        unavailable.append(path)
    }

    /// Returns the paths to show, with an ellipsis for the others.
    package static func shown(_ places: [String]) -> [String] {
        places.prefix(shownUnavailable) + (places.count > shownUnavailable ? ["…"] : [])
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

    /// Adds the results of another tree, or of another part.
    package mutating func add(_ other: TreeReport) {
        folders += other.folders
        files += other.files
        for path in other.unavailable { noteUnavailable(path) }
        hasMoreUnavailable = hasMoreUnavailable || other.hasMoreUnavailable
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
