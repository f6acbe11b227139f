// SPDX-License-Identifier: Apache-2.0

/// The names of the journal's files.
enum JournalNames {
    /// The note of the last durable entry.
    static let head = "journal.head"
    /// How the names of segments end.
    static let segmentSuffix = ".journal"
    /// How files end that were being made when the program ended.
    static let unfinishedSuffix = ".new"

    /// The highest number that is read. No journal gets there.
    static let maximumSequence: UInt64 = 1 << 62
    /// The highest number after which a journal is opened to be written, so that neither the name of a stray file nor a
    /// damaged note of its owner makes the numbers overflow.
    static let maximumSequenceAtOpening: UInt64 = 1 << 61

    /// The name of the segment that begins with an entry.
    static func segment(_ first: UInt64) -> String {
        let digits = String(first, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + segmentSuffix
    }

    /// The number in a segment's name, or `nil` if that is not the name of a segment.
    static func first(of name: String) -> UInt64? {
        guard name.hasSuffix(segmentSuffix), let first = UInt64(name.dropLast(segmentSuffix.count), radix: 16),
            (1...maximumSequence).contains(first)
        else { return nil }
        return segment(first) == name ? first : nil
    }
}
