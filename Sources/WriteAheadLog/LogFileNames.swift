// SPDX-License-Identifier: Apache-2.0

/// The names of the log's files.
package enum LogFileNames {
    /// The note of the last durable entry.
    package static let head = "journal.head"
    /// How the names of segments end.
    package static let segmentSuffix = ".journal"
    /// How files end that were being made when the program ended.
    package static let unfinishedSuffix = ".new"

    /// The highest number that is read. No log gets there.
    package static let maximumSequence: UInt64 = 1 << 62
    /// The highest number after which a log is opened to be written, so that neither the name of a stray file nor a
    /// damaged note of its owner makes the numbers overflow.
    package static let maximumSequenceAtOpening: UInt64 = 1 << 61

    /// The name of the segment that begins with an entry.
    package static func segment(_ first: UInt64) -> String {
        let digits = String(first, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + segmentSuffix
    }

    /// The number in a segment's name, or `nil` if that is not the name of a segment.
    package static func first(of name: String) -> UInt64? {
        guard name.hasSuffix(segmentSuffix), let first = UInt64(name.dropLast(segmentSuffix.count), radix: 16),
            (1...maximumSequence).contains(first)
        else { return nil }
        return segment(first) == name ? first : nil
    }
}
