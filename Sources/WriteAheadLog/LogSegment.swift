// SPDX-License-Identifier: Apache-2.0

/// One file of the log, as far as it is known to be durable.
struct LogSegment: Hashable, Sendable {
    /// The place of an entry.
    struct Mark: Hashable, Sendable {
        /// The entry's number.
        var sequence: UInt64
        /// Where its frame begins, in bytes from the file's start.
        var offset: Int
    }

    /// The number of the first entry, which is also the file's name.
    var first: UInt64
    /// Where the durable entries end, in bytes from the file's start.
    var end: Int
    /// Places from which reading may begin, in order.
    var marks: [Mark] = []
    /// What keeps the whole file from being read.
    var damage: LogDamage?

    /// The file's name, without folder.
    var name: String { LogFileNames.segment(first) }

    /// Remembers the place of an entry, if the last one remembered is far enough.
    mutating func mark(_ sequence: UInt64, at offset: Int, every distance: Int) {
        if offset - (marks.last?.offset ?? LogSegmentHeader.byteCount) >= distance {
            marks.append(Mark(sequence: sequence, offset: offset))
        }
    }
}
