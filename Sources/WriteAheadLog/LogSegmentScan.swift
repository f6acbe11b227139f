// SPDX-License-Identifier: Apache-2.0

/// Reads all frames of one segment and evaluates the gaps between and after them.
struct LogSegmentScan {
    /// A gap in the sequence of entries.
    private struct Gap {
        /// The bytes that are not entries; empty if only numbers are missing.
        var bytes: Range<Int>
        /// The entry number that was expected.
        var expected: UInt64
        /// The number of the entry that follows the gap.
        var following: UInt64
        /// The number of marks before the gap.
        var marks: Int
    }

    /// The findings, in order.
    private(set) var findings: [LogFinding] = []
    /// The segment, up to the last entry to keep.
    private(set) var segment: LogSegment
    /// The number that follows the last entry to keep.
    private(set) var next: UInt64
    /// `true` if acknowledged entries are lost or changed.
    private(set) var isDamaged = false

    /// Reads the segment to its end.
    ///
    /// - Parameters:
    ///   - limit: The number of the last entry in this segment, if there is a later segment.
    ///   - confirmed: The number through which entries are known to be acknowledged.
    ///   - applied: The number through which lost entries do not matter.
    init(
        _ start: LogFrameReader, segment: LogSegment, size: Int, limit: UInt64?, confirmed: UInt64,
        applied: UInt64, decodes: Bool, markBytes: Int
    ) throws(LogFileError) {
        self.segment = segment
        next = segment.first
        self.segment.end = start.offset
        var reader = start
        var gaps: [Gap] = []
        var undecodable: [LogFinding] = []
        var unreadable: Range<Int>?
        var confirmed = limit ?? confirmed
        reading: while true {
            let expected = reader.expected
            switch try reader.next() {
            case .entry(let frame, let offset):
                if unreadable != nil || frame.sequence != expected {
                    let bytes = unreadable ?? offset..<offset
                    gaps.append(
                        Gap(
                            bytes: bytes, expected: expected, following: frame.sequence, marks: self.segment.marks.count
                        ))
                    unreadable = nil
                }
                confirmed = max(confirmed, min(frame.confirmed, limit ?? .max))
                self.segment.mark(frame.sequence, at: offset, every: markBytes)
                self.segment.end = reader.offset
                next = frame.sequence + 1
                if decodes, case .failure(let error) = try reader.entry(frame, offset: offset) {
                    undecodable.append(
                        .damaged(
                            file: segment.name, offset: offset, entries: frame.sequence...frame.sequence,
                            reason: .undecodable(error)))
                }
            case .unreadable(let bytes): unreadable = bytes
            case .superseded(let bytes):
                unreadable = (unreadable?.lowerBound ?? bytes.lowerBound)..<bytes.upperBound
            case .end: break reading
            }
        }
        if let torn = judge(gaps, confirmed: confirmed, applied: applied) { unreadable = torn..<size }
        judgeTail(unreadable ?? size..<size, confirmed: confirmed, applied: applied)
        isDamaged = isDamaged || !undecodable.isEmpty
        findings += undecodable
    }

    /// Returns the offset at which to truncate the segment, if a gap shows that nothing after it
    /// was acknowledged. In that case the missing entry belongs to the same group as the entries
    /// that follow.
    private mutating func judge(_ gaps: [Gap], confirmed: UInt64, applied: UInt64) -> Int? {
        for gap in gaps {
            guard gap.expected <= confirmed else {
                segment.end = gap.bytes.lowerBound
                segment.marks.removeLast(segment.marks.count - gap.marks)
                next = gap.expected
                return gap.bytes.lowerBound
            }
            reportDamage(gap.bytes, gap.expected, gap.following, applied)
        }
        return nil
    }

    private mutating func judgeTail(_ tail: Range<Int>, confirmed: UInt64, applied: UInt64) {
        if next <= confirmed {
            reportDamage(tail, next, confirmed + 1, applied)
        } else if !tail.isEmpty {
            findings.append(.tornTail(file: segment.name, offset: tail.lowerBound, bytes: tail.count))
        }
    }

    private mutating func reportDamage(_ bytes: Range<Int>, _ expected: UInt64, _ following: UInt64, _ applied: UInt64)
    {
        isDamaged = true
        // Entries with these numbers were never written here, because they are durable elsewhere.
        if bytes.isEmpty, following <= applied + 1 { return }
        findings.append(
            .damaged(
                file: segment.name, offset: bytes.lowerBound,
                entries: following > expected ? expected...(following - 1) : nil,
                reason: bytes.isEmpty ? .missingEntries : .unreadable(bytes: bytes.count)))
    }
}
