// SPDX-License-Identifier: Apache-2.0

/// A component in a file, from its `BEGIN` line to its `END` line.
package struct Component: Sendable, Equatable {
    /// The name in upper case, such as `VCARD` or `VEVENT`.
    package var name: String
    package var range: Range<Int>
    /// `false` if the `END` line is missing.
    package var isComplete: Bool
}

/// Finds components without parsing their lines. Components nested in a component are part of it. A
/// folded line is never a boundary, since it begins with a space.
package struct ComponentScanner: Sequence, IteratorProtocol {
    /// The maximum nesting depth inside a found component; deeper components are not tracked.
    static let maximumDepth = 64

    private let bytes: ArraySlice<UInt8>
    private let isWanted: (String) -> Bool
    private var position: Int

    /// - Parameter isWanted: Returns `true` for the names of components to find.
    package init(_ bytes: ArraySlice<UInt8>, isWanted: @escaping (String) -> Bool) {
        self.bytes = bytes
        self.isWanted = isWanted
        position = bytes.startIndex
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position += 3 }
    }

    package mutating func next() -> Component? {
        while position < bytes.endIndex {
            let start = position
            let line = PhysicalLine.next(in: bytes, at: &position)
            guard let name = PhysicalLine.component(line, after: "BEGIN:"), isWanted(name) else { continue }
            return component(name, from: start)
        }
        return nil
    }

    private mutating func component(_ name: String, from start: Int) -> Component {
        var open = [name]
        while position < bytes.endIndex {
            let lineStart = position
            let first = bytes[position] & 0xDF
            let line = PhysicalLine.next(in: bytes, at: &position)
            guard first == UInt8(ascii: "B") || first == UInt8(ascii: "E") else { continue }
            if let inner = PhysicalLine.component(line, after: "BEGIN:") {
                // A component without an end stops where the next component of its kind begins,
                // unless the line before ends with a colon: `AGENT:` in vCard 2.1 contains a card.
                if isWanted(inner), open.count == 1, !isAfterColon(lineStart) {
                    position = lineStart
                    return Component(name: name, range: start..<lineStart, isComplete: false)
                }
                if open.count < Self.maximumDepth { open.append(inner) }
            } else if let inner = PhysicalLine.component(line, after: "END:") {
                guard let index = open.lastIndex(of: inner) else {
                    // The end of an enclosing component.
                    if open.count == 1 { return Component(name: name, range: start..<lineStart, isComplete: false) }
                    continue
                }
                open.removeSubrange(index...)
                if open.isEmpty { return Component(name: name, range: start..<position, isComplete: true) }
            }
        }
        return Component(name: name, range: start..<bytes.endIndex, isComplete: false)
    }

    private func isAfterColon(_ lineStart: Int) -> Bool {
        let before = bytes[..<lineStart].last(where: { $0 != 0x0A && $0 != 0x0D && $0 != 0x20 })
        return before == UInt8(ascii: ":")
    }
}

extension ContentLineReader {
    /// Passes on the lines of the component itself, without `BEGIN`, `END` and nested components.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of lines.
    ///   - body: Called for each line that has the syntax of a content line.
    /// - Returns: `true` if all lines were read.
    package static func readLines(
        of component: ArraySlice<UInt8>, limit: Int, _ body: (ContentLine) -> Void
    ) -> Bool {
        var reader = ContentLineReader(component)
        var depth = 0
        var count = 0
        while let line = reader.next() {
            if PhysicalLine.component(line, after: "BEGIN:") != nil {
                depth += 1
            } else if PhysicalLine.component(line, after: "END:") != nil {
                depth -= 1
                if depth <= 0 { break }
            } else if depth == 1 {
                guard count < limit else { return false }
                count += 1
                if let parsed = ContentLine(line) { body(parsed) }
            }
        }
        return reader.longLines == 0
    }

    /// Returns `true` if each component ends with its own `END` line, and the outermost components
    /// have only accepted lines. Outside of components, only blank lines are accepted.
    package static func isWhole(_ bytes: ArraySlice<UInt8>, accepts: (ContentLine) -> Bool) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var reader = ContentLineReader(bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes)
        var open: [String] = []
        while let line = reader.next() {
            if let name = PhysicalLine.component(line, after: "BEGIN:") {
                guard open.count < ComponentScanner.maximumDepth else { return false }
                open.append(name)
            } else if let name = PhysicalLine.component(line, after: "END:") {
                guard open.popLast() == name else { return false }
            } else if open.count < 2, line.contains(where: { $0 > 0x20 }) {
                guard !open.isEmpty, let parsed = ContentLine(line), accepts(parsed) else { return false }
            }
        }
        return open.isEmpty && reader.longLines == 0
    }
}
