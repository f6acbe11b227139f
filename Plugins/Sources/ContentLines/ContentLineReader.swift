// SPDX-License-Identifier: Apache-2.0

/// Yields the unfolded lines of a text in vCard or iCalendar syntax. Lines end with LF, CR LF or
/// CR. A line that begins with a space or tab continues the previous line. In vCard 2.1, a
/// quoted-printable line continues after an equals sign at its end.
package struct ContentLineReader: Sequence, IteratorProtocol {
    /// The maximum length of an unfolded line, in bytes; the reader skips a longer line.
    package static let maximumLine = 8 << 20

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    /// The number of lines that were too long.
    package private(set) var longLines = 0

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    package mutating func next() -> ArraySlice<UInt8>? {
        while position < bytes.endIndex {
            let first = PhysicalLine.next(in: bytes, at: &position)
            if first.isEmpty { continue }
            let isQuotedPrintable = Self.isQuotedPrintable(first)
            var isTooLong = first.count > Self.maximumLine
            if !isTooLong, !continues(after: first, isQuotedPrintable) { return first }
            var joined = Array(isQuotedPrintable && first.last == UInt8(ascii: "=") ? first.dropLast() : first)
            var last = first
            while continues(after: last, isQuotedPrintable) {
                let isSoft = isQuotedPrintable && last.last == UInt8(ascii: "=")
                last = PhysicalLine.next(in: bytes, at: &position)
                // After a soft line break, a leading space is part of the value.
                var part = isSoft ? last : last.dropFirst()
                if isQuotedPrintable, part.last == UInt8(ascii: "=") { part = part.dropLast() }
                if joined.count + part.count > Self.maximumLine { isTooLong = true } else { joined += part }
            }
            if !isTooLong { return joined[...] }
            longLines += 1
        }
        return nil
    }

    private func continues(after line: ArraySlice<UInt8>, _ isQuotedPrintable: Bool) -> Bool {
        guard position < bytes.endIndex else { return false }
        if isQuotedPrintable, line.last == UInt8(ascii: "=") { return true }
        return bytes[position] == 0x20 || bytes[position] == 0x09
    }

    private static func isQuotedPrintable(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon - line.startIndex <= 1000 else { return false }
        let head = line[..<colon]
        guard head.contains(UInt8(ascii: "=")) || head.contains(UInt8(ascii: ";")) else { return false }
        return String(decoding: head, as: UTF8.self).uppercased().contains("QUOTED-PRINTABLE")
    }
}

/// A line as written in the file, without its terminator.
enum PhysicalLine {
    /// Returns the line at a position and advances the position past its terminator.
    static func next(in bytes: ArraySlice<UInt8>, at position: inout Int) -> ArraySlice<UInt8> {
        let start = position
        let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.endIndex
        position = end
        if position < bytes.endIndex {
            let isReturn = bytes[position] == 0x0D
            position += 1
            if isReturn, position < bytes.endIndex, bytes[position] == 0x0A { position += 1 }
        }
        return bytes[start..<end]
    }

    /// Returns the name of the component that a line begins or ends, in upper case.
    static func component(_ line: ArraySlice<UInt8>, after word: StaticString) -> String? {
        let count = word.utf8CodeUnitCount
        guard line.count > count, line.count <= count + 64 else { return nil }
        let matches = word.withUTF8Buffer { word in
            zip(line, word).allSatisfy { $0 == $1 || $0 & 0xDF == $1 && (0x41...0x5A).contains($1) }
        }
        guard matches else { return nil }
        let name = line.dropFirst(count).drop { $0 == 0x20 }
        let end = name.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? name.startIndex
        return String(decoding: name[..<end], as: UTF8.self).uppercased()
    }
}
