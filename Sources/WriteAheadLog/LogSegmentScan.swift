// SPDX-License-Identifier: Apache-2.0

/// Reads all frames of one segment and judges what is between and after them.
struct LogSegmentScan {
    /// A place where what was expected is not.
    private struct Gap {
        /// The bytes that are no entries; empty if there are none.
        var bytes: Range<Int>
        /// The number that was expected here.
        var expected: UInt64
        /// The number of the entry that follows.
        var following: UInt64
        /// How many marks lie before it.
        var marks: Int
    }

    /// What was found, in order.
    private(set) var findings: [LogFinding] = []
    /// The segment, up to its last entry that is to be kept.
    private(set) var segment: LogSegment
    /// The number after that of the last entry to be kept.
    private(set) var next: UInt64
    /// Whether anything acknowledged is lost or changed.
    private(set) var isDamaged = false

    /// Reads to the end.
    ///
    /// - Parameters:
    ///   - limit: The number of the last entry that belongs here, if there is a later segment.
    ///   - confirmed: The number up to which entries are known to have been acknowledged.
    ///   - applied: The number up to which nobody misses an entry.
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

    /// Returns where the segment is to be cut, if a gap shows that what follows was never acknowledged: then the entry
    /// that is missing was being written together with those that follow.
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
        // Numbers that were never written here because their entries are safe elsewhere.
        if bytes.isEmpty, following <= applied + 1 { return }
        findings.append(
            .damaged(
                file: segment.name, offset: bytes.lowerBound,
                entries: following > expected ? expected...(following - 1) : nil,
                reason: bytes.isEmpty ? .missingEntries : .unreadable(bytes: bytes.count)))
    }
}
