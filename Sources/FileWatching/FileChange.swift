// SPDX-License-Identifier: Apache-2.0

/// A change of a file that its owner has not dealt with yet.
package enum FileChange: Hashable, Sendable {
    /// The file at this path is new, or its content or rights are others.
    case changed(path: String)
    /// The file has another path; it may be changed too.
    case moved(from: String, to: String)
    /// There is no file at this path any more.
    case removed(path: String)

    /// The paths that the change names.
    package var paths: [String] {
        switch self {
        case .changed(let path), .removed(let path): [path]
        case .moved(let old, let new): [old, new]
        }
    }
}

/// Changes that are handed to their owner together.
package struct FileChanges: Sendable {
    /// In the order in which they were noticed.
    package var changes: [FileChange]
    /// The numbers of what they were made of; a file that is changed meanwhile gets another one.
    var serials: [Int64]
}

/// How much an owner has to deal with.
package struct PendingChanges: Hashable, Sendable {
    /// Files.
    package var count: Int
    /// The bytes of those that are there.
    package var bytes: Int64

    /// Creates a number of changes.
    package init(count: Int = 0, bytes: Int64 = 0) {
        self.count = count
        self.bytes = bytes
    }
}
