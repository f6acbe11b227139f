// SPDX-License-Identifier: Apache-2.0

/// A segment file, up to where it is known to be durable.
struct LogSegment: Hashable, Sendable {
    /// The position of an entry.
    struct Mark: Hashable, Sendable {
        /// The entry's number.
        var sequence: UInt64
        /// The offset of the entry's frame, in bytes.
        var offset: Int
    }

    /// The number of the first entry, which is also the file's name.
    var first: UInt64
    /// The offset at which the durable entries end, in bytes.
    var end: Int
    /// The positions from which reading may start, in order.
    var marks: [Mark] = []
    /// The damage that makes the whole file unreadable; `nil` if there is none.
    var damage: LogDamage?

    /// The file's name, without the folder.
    var name: String { LogFileNames.segment(first) }

    /// Records the position of an entry if it is far enough from the last recorded position.
    mutating func mark(_ sequence: UInt64, at offset: Int, every distance: Int) {
        if offset - (marks.last?.offset ?? LogSegmentHeader.byteCount) >= distance {
            marks.append(Mark(sequence: sequence, offset: offset))
        }
    }
}
