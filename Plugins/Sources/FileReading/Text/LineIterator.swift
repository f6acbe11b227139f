// SPDX-License-Identifier: Apache-2.0

/// A sequence of lines without their terminators: LF, CR LF or CR.
package struct LineIterator: IteratorProtocol, Sequence {
    package private(set) var rest: Substring

    package init(_ text: Substring) { rest = text }

    package mutating func next() -> Substring? {
        if rest.isEmpty { return nil }
        let bytes = rest.utf8
        guard let end = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
            defer { rest = rest[rest.endIndex...] }
            return rest
        }
        let line = rest[..<end]
        var next = bytes.index(after: end)
        if bytes[end] == 0x0D, next < bytes.endIndex, bytes[next] == 0x0A { next = bytes.index(after: next) }
        rest = rest[next...]
        return line
    }
}
