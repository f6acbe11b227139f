// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A batch of changes to be handled together by an owner.
package struct FileChanges: Sendable {
    /// The changes, in the order in which they were detected.
    package var changes: [FileChange]
    /// The serial numbers of the differences. A file that changes again gets a new number.
    var serials: [Int64]
}

/// The next changes of an owner.
package enum NextChanges: Sendable {
    case changes(FileChanges)
    /// Only possible halves of moves are pending, and a comparison in progress may find the other
    /// halves. Wait with ``FileSnapshot/waitForComparisons(atMost:)``.
    case withheld
    /// The owner knows all stored changes.
    case nothing
}

/// The amount of pending work for an owner.
package struct PendingChanges: Hashable, Sendable {
    /// The number of files. A moved file is counted once. A removed file and an added file may also
    /// be counted as one.
    package var count: Int
    /// The total size in bytes of the files that exist. At most 16 MiB are counted per file,
    /// because no extension reads a whole film.
    package var bytes: Int64
    /// The serial number of the last change.
    package var last: Int64

    /// Creates an amount of pending changes.
    package init(count: Int = 0, bytes: Int64 = 0, last: Int64 = 0) {
        self.count = count
        self.bytes = bytes
        self.last = last
    }
}

/// A request to an owner for all of its files (``FileSnapshot/beginEverything(of:)``).
package struct EverythingRequest: Hashable, Sendable {
    /// The owner that receives the request.
    package let owner: String
    /// The serial number of the last difference before the request.
    let serial: Int64
}
