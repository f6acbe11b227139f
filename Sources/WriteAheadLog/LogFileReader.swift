// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads a file through a buffer, so that a long segment is never entirely in memory.
struct LogFileReader {
    /// The buffer size, in bytes.
    private static let chunkBytes = 256 << 10

    private let file: any LogFile
    /// The offset at which reading stops, in bytes.
    let size: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// Creates a reader for a file up to a length.
    init(file: any LogFile, size: Int) {
        self.file = file
        self.size = size
    }

    /// Calls `body` with some bytes of the file and returns its result; `nil` if the file ends
    /// before the last of these bytes.
    mutating func withBytes<Value>(
        at offset: Int, count: Int, _ body: (UnsafeRawBufferPointer) -> Value
    ) throws(LogFileError) -> Value? {
        guard offset <= size, count <= size - offset else { return nil }
        if offset < start || offset + count > start + buffer.count {
            buffer = try file.read(at: offset, count: min(max(count, Self.chunkBytes), size - offset))
            start = offset
            guard count <= buffer.count else { return nil }
        }
        let begin = offset - start
        return buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[begin..<(begin + count)])) }
    }

    /// Returns the offset of the next frame marker at or after `offset`; `nil` if there is none.
    mutating func nextMarker(from offset: Int) throws(LogFileError) -> Int? {
        var position = offset
        while position + LogFrame.byteCount <= size {
            let count = min(Self.chunkBytes, size - position)
            let found = try withBytes(at: position, count: count, Self.firstMarker)
            guard let found else { return nil }
            if let found { return position + found }
            // The last three bytes may be the beginning of a marker.
            position += count - 3
        }
        return nil
    }

    private static func firstMarker(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var offset = 0
        while bytes.count - offset >= 4 {
            let first = Int32(LogFrame.marker & 0xFF)
            guard let hit = memchr(base + offset, first, bytes.count - offset - 3) else { return nil }
            offset = UnsafeRawPointer(hit) - base
            if LittleEndian.load(UInt32.self, at: offset, from: bytes) == LogFrame.marker { return offset }
            offset += 1
        }
        return nil
    }
}
