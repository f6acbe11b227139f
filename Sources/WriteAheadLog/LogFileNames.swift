// SPDX-License-Identifier: Apache-2.0

/// The names of the log's files.
package enum LogFileNames {
    /// The file with the note of the last durable entry.
    package static let head = "journal.head"
    /// The suffix of segment names.
    package static let segmentSuffix = ".journal"
    /// The suffix of files whose creation was interrupted.
    package static let unfinishedSuffix = ".new"

    /// The highest entry number that is accepted when reading. No log reaches it.
    package static let maximumSequence: UInt64 = 1 << 62
    /// The highest entry number with which a log is opened for writing. It ensures that neither the
    /// name of a stray file nor a damaged number from the owner can make the numbers overflow.
    package static let maximumSequenceAtOpening: UInt64 = 1 << 61

    /// Returns the name of the segment that begins with the given entry.
    package static func segment(_ first: UInt64) -> String {
        let digits = String(first, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + segmentSuffix
    }

    /// Returns the entry number in a segment's name; `nil` if it is not a segment name.
    package static func first(of name: String) -> UInt64? {
        guard name.hasSuffix(segmentSuffix), let first = UInt64(name.dropLast(segmentSuffix.count), radix: 16),
            (1...maximumSequence).contains(first)
        else { return nil }
        return segment(first) == name ? first : nil
    }
}
