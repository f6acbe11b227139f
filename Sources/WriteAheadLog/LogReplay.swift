// SPDX-License-Identifier: Apache-2.0

/// The entries of a log starting at a number, in order, as they were durable when this sequence was
/// created.
///
/// Reads lazily in ``next()``, which blocks; use it on a thread that may block. Unreadable entries
/// are never skipped silently: a failure is returned in their place. After ``LogError/damaged(_:)``
/// the sequence continues.
package struct LogReplay: Sequence, IteratorProtocol, Sendable {
    package typealias Element = Result<NumberedLogEntry, LogError>

    private let folder: String
    private let files: any LogFiles
    private let seed: UInt32
    private let after: UInt64
    private let snapshot: LogSnapshot
    private var segment = 0
    private var reader: LogFrameReader?
    private var expected: UInt64
    private var unreadable: Range<Int>?
    /// An entry to return after a pending failure.
    private var held: (frame: LogFrame, offset: Int)?

    init(
        _ snapshot: LogSnapshot, after: UInt64, folder: String, store: StoreIdentifier,
        files: any LogFiles
    ) {
        self.snapshot = snapshot
        self.after = after
        self.folder = folder
        self.files = files
        seed = store.checksum
        expected = after == .max ? after : after + 1
    }

    /// Returns the next entry or a failure; `nil` at the end.
    package mutating func next() -> Element? {
        do {
            return try step()
        } catch {
            // After a failed file operation, the position of the next entry is unknown.
            segment = snapshot.segments.count
            reader = nil
            expected = .max
            return .failure(.file(error))
        }
    }

    /// Skips the entries before `sequence`, without decoding them or reading the part of the file
    /// before the last mark.
    package mutating func skip(to sequence: UInt64) {
        guard sequence > expected else { return }
        held = nil
        unreadable = nil
        expected = sequence
        guard let reader else { return }
        guard snapshot.lastSequence(ofSegment: segment) >= sequence else {
            self.reader = nil
            segment += 1
            return
        }
        guard let mark = snapshot.segments[segment].marks.last(where: { $0.sequence <= sequence }),
            mark.sequence > reader.expected
        else { return }
        self.reader?.skip(to: mark)
    }

    private mutating func step() throws(LogFileError) -> Element? {
        while true {
            if let (frame, offset) = held {
                held = nil
                return try record(frame, offset)
            }
            guard reader != nil else {
                guard segment < snapshot.segments.count else { return missingEnd() }
                if let failure = try begin() { return failure }
                continue
            }
            guard let found = try reader?.next() else { continue }
            switch found {
            case .entry(let frame, _) where frame.sequence < expected: unreadable = nil
            case .entry(let frame, let offset):
                let missing = expected..<Swift.max(expected, frame.sequence)
                held = (frame, offset)
                if let failure = failure(missing, at: offset) { return failure }
            case .unreadable(let bytes): unreadable = bytes
            case .superseded, .end:
                let end = snapshot.lastSequence(ofSegment: segment)
                let at = snapshot.segments[segment].end
                let missing = expected..<(end < expected ? expected : end + 1)
                let failure = failure(missing, at: at)
                reader = nil
                segment += 1
                expected = missing.upperBound
                if let failure { return failure }
            }
        }
    }

    /// Opens the current segment, or skips it if it has no relevant entries.
    private mutating func begin() throws(LogFileError) -> Element? {
        let current = snapshot.segments[segment]
        let end = snapshot.lastSequence(ofSegment: segment)
        guard end >= expected, end >= current.first else {
            segment += 1
            return nil
        }
        if current.first > expected {
            let missing = expected...(current.first - 1)
            expected = current.first
            return .failure(
                .damaged(.damaged(file: current.name, offset: 0, entries: missing, reason: .missingEntries)))
        }
        if let damage = current.damage {
            let missing = expected...end
            expected = end + 1
            segment += 1
            return .failure(.damaged(.damaged(file: current.name, offset: 0, entries: missing, reason: damage)))
        }
        let file = try files.open(folder + "/" + current.name, for: .read)
        let wanted = expected
        let mark =
            current.marks.last { $0.sequence <= wanted }
            ?? .init(sequence: current.first, offset: LogSegmentHeader.byteCount)
        reader = LogFrameReader(
            window: LogFileReader(file: file, size: current.end), seed: seed, offset: mark.offset,
            expected: mark.sequence, limit: end)
        return nil
    }

    private mutating func record(_ frame: LogFrame, _ offset: Int) throws(LogFileError) -> Element? {
        guard let decoded = try reader?.entry(frame, offset: offset) else { return nil }
        expected = frame.sequence + 1
        switch decoded {
        case .success(let entry): return .success(NumberedLogEntry(sequence: frame.sequence, entry: entry))
        case .failure(let error):
            return .failure(
                .damaged(
                    .damaged(
                        file: snapshot.segments[segment].name, offset: offset,
                        entries: frame.sequence...frame.sequence, reason: .undecodable(error))))
        }
    }

    /// Returns the failure that reports missing entry numbers, which should precede an offset;
    /// `nil` if no entries are missing.
    private mutating func failure(_ missing: Range<UInt64>, at offset: Int) -> Element? {
        let bytes = unreadable
        unreadable = nil
        guard !missing.isEmpty else { return nil }
        expected = missing.upperBound
        return .failure(
            .damaged(
                .damaged(
                    file: snapshot.segments[segment].name, offset: bytes?.lowerBound ?? offset,
                    entries: missing.lowerBound...(missing.upperBound - 1),
                    reason: bytes.map { .unreadable(bytes: $0.count) } ?? .missingEntries)))
    }

    /// Returns a failure if acknowledged entries are missing at the end, as in a log that has no
    /// segments.
    private mutating func missingEnd() -> Element? {
        guard snapshot.last >= expected else { return nil }
        let missing = expected...snapshot.last
        expected = snapshot.last + 1
        return .failure(
            .damaged(
                .damaged(
                    file: LogFileNames.segment(missing.lowerBound), offset: 0, entries: missing, reason: .missingEntries
                )
            ))
    }
}
