// SPDX-License-Identifier: Apache-2.0
import CMailReader
import Glibc

/// Iterates over the messages of an mbox file, with bounded memory.
///
/// A message begins with a `From …` line. Bodies may also contain such lines, so a later one starts
/// a message only if both conditions hold:
///
/// - The next line is a header line.
/// - The line contains a time; or it follows an empty line and contains only `From `, as
///   Thunderbird writes it.
package struct MboxReader {
    /// A message in the file.
    package struct Entry: Sendable, Equatable {
        /// The offset of the `From …` line.
        package var start: Int64
        /// The offset of the message itself.
        package var content: Int64
        /// The offset after the message, where the next message begins.
        package var end: Int64

        /// The number of bytes of the message that are read.
        package var readSize: Int { Int(min(end - content, Int64(Message.Limits.size))) }
        package var isTooLarge: Bool { end - content > Int64(Message.Limits.size) }
    }

    /// The maximum number of messages in an mbox.
    package static let maximumMessages = 2_000_000

    private static let chunk = 1 << 20
    /// The maximum length of a `From …` line, in bytes.
    private static let maximumFromLine = 1024

    private let file: OpenFile
    private let end: Int64
    /// The bytes of the file, starting at `offset`.
    private var buffer: [UInt8] = []
    private var offset: Int64
    /// The offset of the current message's `From …` line; nil before the first message.
    private var start: Int64?
    private let visiting: () -> Void

    /// - Parameters:
    ///   - offset: The offset of a `From …` line.
    ///   - end: The offset after the last message. The reader ignores bytes that are appended
    ///     later.
    ///   - visiting: Called regularly during a long read.
    package init(_ file: OpenFile, from offset: Int64 = 0, to end: Int64? = nil, visiting: @escaping () -> Void = {}) {
        self.file = file
        self.offset = offset
        self.end = min(end ?? file.size, file.size)
        self.visiting = visiting
    }

    /// Returns `true` if a message begins at an offset.
    package static func isStart(_ file: OpenFile, at offset: Int64) -> Bool {
        guard let bytes = try? file.read(at: offset, count: 5) else { return false }
        return bytes.elementsEqual("From ".utf8)
    }

    /// Returns the next message; nil after the last.
    package mutating func next() throws(LeftOutReason) -> Entry? {
        let first: Int64
        if let start {
            first = start
        } else {
            guard offset < end, Self.isStart(file, at: offset) else { return nil }
            first = offset
        }
        guard first < end else { return nil }
        // The search starts after `From `, so it does not find this line again.
        var searched = first + 5
        while true {
            guard let boundary = try boundary(from: searched) else {
                start = end
                return try entry(first, end)
            }
            if try isBoundary(at: boundary) {
                start = boundary
                return try entry(first, boundary)
            }
            searched = boundary + 5
        }
    }

    /// Returns the bytes of a message. An mbox escapes `From ` at the beginning of a line with `>`;
    /// these escapes are removed.
    package func content(of entry: Entry) throws(LeftOutReason) -> [UInt8] {
        let bytes = try file.read(at: entry.content, count: entry.readSize)
        let mayBeEscaped = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { mail_find($0, bytes.count, ">From ") >= 0 } ?? false
        }
        return mayBeEscaped ? Self.unescaped(bytes) : bytes
    }

    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        // One line at a time, because a message may consist of millions of lines.
        var start = 0
        while start < bytes.count {
            let next = bytes[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
            let line = bytes[start..<next]
            let isEscaped =
                line.first == UInt8(ascii: ">") && line.drop { $0 == UInt8(ascii: ">") }.starts(with: "From ".utf8)
            result += isEscaped ? line.dropFirst() : line
            start = next
        }
        return result
    }

    private func entry(_ start: Int64, _ end: Int64) throws(LeftOutReason) -> Entry {
        let line = try file.read(at: start, count: Int(min(end - start, Int64(Self.maximumFromLine))))
        let length = (line.firstIndex(of: 0x0A) ?? line.count - 1) + 1
        return Entry(start: start, content: start + Int64(length), end: end)
    }

    /// Returns the offset of the first line at or after an offset that begins with `From `.
    private mutating func boundary(from offset: Int64) throws(LeftOutReason) -> Int64? {
        // Includes the line break before the line.
        var from = max(0, offset - 1)
        while from < end {
            try fill(from: from)
            let skipped = Int(from - self.offset)
            let place = buffer.withUnsafeBytes { bytes -> Int? in
                guard let base = bytes.baseAddress, bytes.count > skipped else { return nil }
                let found = mail_find(base + skipped, bytes.count - skipped, "\nFrom ")
                return found < 0 ? nil : skipped + found
            }
            if let place { return self.offset + Int64(place) + 1 }
            visiting()
            // A line break and `From ` may be split at the edge of the buffer.
            from = max(from + 1, self.offset + Int64(buffer.count) - 5)
        }
        return nil
    }

    /// Fills the buffer with the bytes that start at an offset.
    private mutating func fill(from wanted: Int64) throws(LeftOutReason) {
        let bufferEnd = offset + Int64(buffer.count)
        if wanted >= offset, wanted + 6 <= bufferEnd || bufferEnd == end, wanted < bufferEnd { return }
        buffer = try file.read(at: wanted, count: Int(min(Int64(Self.chunk), end - wanted)))
        offset = wanted
        // Another program truncated the file while it was read.
        if buffer.isEmpty { throw .notThere }
    }

    /// `true` if the `From …` line at an offset begins a message.
    private func isBoundary(at offset: Int64) throws(LeftOutReason) -> Bool {
        let before = Int(min(offset, 3))
        let window = try file.read(at: offset - Int64(before), count: Self.maximumFromLine + 128)
        let line = window.dropFirst(before)
        // Checked again, because the file may have changed.
        guard line.starts(with: "From ".utf8), let lineEnd = line.firstIndex(of: 0x0A) else { return false }
        let preceding = window[..<before]
        let followsEmptyLine = preceding.suffix(2) == [0x0A, 0x0A] || preceding == [0x0A, 0x0D, 0x0A]
        let rest = line[line.startIndex + 5..<lineEnd]
        let isBare = rest.allSatisfy { $0 <= 0x20 }
        guard isBare ? followsEmptyLine : Self.hasTime(rest) else { return false }
        return Self.isHeaderLine(line[(lineEnd + 1)...])
    }

    /// Returns `true` if a line contains a time such as `12:34`.
    private static func hasTime(_ line: ArraySlice<UInt8>) -> Bool {
        func isDigit(_ index: Int) -> Bool {
            line.indices.contains(index) && (0x30...0x39).contains(line[index])
        }
        return line.indices.contains { index in
            line[index] == UInt8(ascii: ":") && isDigit(index - 1) && isDigit(index + 1) && isDigit(index + 2)
        }
    }

    /// `true` if the text begins with a field name and a colon, or with `>From `, which old mailers
    /// add.
    private static func isHeaderLine(_ text: ArraySlice<UInt8>) -> Bool {
        if text.starts(with: ">From ".utf8) { return true }
        guard let colon = text.prefix(80).firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex else {
            return false
        }
        return text[..<colon].allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
