// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// Reads the frames of a segment one after another, and finds the next frame after invalid bytes.
struct LogFrameReader {
    /// The result of reading at a position.
    enum Step: Hashable {
        /// An entry with a valid checksum, whose number is at least the expected one. Its payload
        /// follows the frame.
        case entry(LogFrame, offset: Int)
        /// Bytes that are not an entry.
        case unreadable(Range<Int>)
        /// Entries beyond the segment's last number. The next segment reuses these numbers, so the
        /// entries were never acknowledged.
        case superseded(Range<Int>)
        /// The end of the segment.
        case end
    }

    private enum Candidate {
        case none
        case damaged(LogFrame)
        case whole(LogFrame)
    }

    private var window: LogFileReader
    private let seed: UInt32
    /// The number of the last entry that may be in the segment; `nil` for no limit.
    private let limit: UInt64?
    /// The entry number through which payloads are not read, because these entries are no longer
    /// needed.
    private let skimmed: UInt64
    private(set) var offset: Int
    /// The number of the next entry if the segment is intact.
    private(set) var expected: UInt64

    /// Creates a reader at a frame.
    init(
        window: LogFileReader, seed: UInt32, offset: Int, expected: UInt64, limit: UInt64?, skimming skimmed: UInt64 = 0
    ) {
        self.skimmed = skimmed
        self.window = window
        self.seed = seed
        self.limit = limit
        self.offset = offset
        self.expected = expected
    }

    /// Reads the next frame.
    mutating func next() throws(LogFileError) -> Step {
        let start = offset
        guard start < window.size else { return .end }
        var position = start
        while position < window.size {
            let candidate = try candidate(at: position)
            if case .whole(let frame) = candidate, frame.sequence >= expected {
                offset = position
                if position > start { return .unreadable(start..<position) }
                return accept(frame)
            }
            switch candidate {
            case .none: position += 1
            // The frame is intact, so its length is correct. Bytes in the payload that look like an
            // entry are not an entry.
            case .damaged(let frame), .whole(let frame): position += frame.totalBytes
            }
            guard let marker = try window.nextMarker(from: position) else { break }
            position = marker
        }
        offset = window.size
        return .unreadable(start..<window.size)
    }

    /// Continues at a later entry, whose position is marked.
    mutating func skip(to mark: LogSegment.Mark) {
        offset = mark.offset
        expected = mark.sequence
    }

    /// Decodes the payload of an entry that ``next()`` returned.
    mutating func entry(
        _ frame: LogFrame, offset: Int
    ) throws(LogFileError) -> Result<LogEntry, LogEntryError> {
        let decoded = try window.withBytes(at: offset + LogFrame.byteCount, count: Int(frame.length)) { bytes in
            Result { () throws(LogEntryError) in try LogEntry(decoding: bytes) }
        }
        return decoded ?? .failure(.truncated(offset: 0))
    }

    private mutating func accept(_ frame: LogFrame) -> Step {
        let start = offset
        if let limit, frame.sequence > limit {
            offset = window.size
            return .superseded(start..<window.size)
        }
        offset += frame.totalBytes
        expected = frame.sequence + 1
        return .entry(frame, offset: start)
    }

    private mutating func candidate(at position: Int) throws(LogFileError) -> Candidate {
        let seed = seed
        let found = try window.withBytes(at: position, count: LogFrame.byteCount) {
            LogFrame(decoding: $0, seed: seed)
        }
        guard let frame = found ?? nil else { return .none }
        if frame.sequence <= skimmed {
            return frame.totalBytes <= window.size - position ? .whole(frame) : .damaged(frame)
        }
        let checksum = try window.withBytes(at: position + LogFrame.byteCount, count: Int(frame.length)) { bytes in
            var crc = CRC32C()
            crc.add(bytes)
            return crc.value
        }
        return checksum == frame.payloadChecksum ? .whole(frame) : .damaged(frame)
    }
}
