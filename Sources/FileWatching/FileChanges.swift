// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// Changes that are handed to their owner together.
package struct FileChanges: Sendable {
    /// In the order in which they were noticed.
    package var changes: [FileChange]
    /// The numbers of the differences. A file that changes meanwhile gets a new number.
    var serials: [Int64]
}

/// What an owner is to deal with next.
package enum NextChanges: Sendable {
    case changes(FileChanges)
    /// There are changes that may be halves of moves, and a comparison is in progress that may find the other halves:
    /// ``FileSnapshot/waitForComparisons(atMost:)``.
    case withheld
    /// The owner knows all that is noted.
    case nothing
}

/// How much an owner has to deal with.
package struct PendingChanges: Hashable, Sendable {
    /// Files. One that was moved counts once, and so may one that went and another that came.
    package var count: Int
    /// The bytes of those that are there, of each up to 16 MiB: no extension reads a whole film.
    package var bytes: Int64
    /// The number of the change that was noticed last.
    package var last: Int64

    /// Creates a number of changes.
    package init(count: Int = 0, bytes: Int64 = 0, last: Int64 = 0) {
        self.count = count
        self.bytes = bytes
        self.last = last
    }
}

/// A request for everything that an owner has (``FileSnapshot/beginEverything(of:)``).
package struct EverythingRequest: Hashable, Sendable {
    /// Who is asked.
    package let owner: String
    /// The number of the last difference before it.
    let serial: Int64
}
