// SPDX-License-Identifier: Apache-2.0

/// Rewrites styles so that they only contain allowed parts. The result loads and runs nothing. It
/// cannot end the enclosing element or attribute, because it contains none of `<`, `&`, `"` and
/// `\`.
struct StyleFilter {
    private let bytes: [UInt8]
    private var position = 0
    /// The number of omitted parts, and the first omitted part.
    private(set) var omitted: (count: Int, example: ArraySlice<UInt8>) = (0, [])
    private var ruleCount = 0

    /// The maximum number of bytes to read from a style sheet or attribute.
    static let maximumBytes = 512 << 10
    private static let maximumRules = 4000
    private static let maximumDeclarations = 200
    private static let maximumSelectorBytes = 512
    /// The maximum nesting depth of `@media`.
    private static let maximumDepth = 4

    private init(_ text: ArraySlice<UInt8>) {
        bytes = Self.withoutComments(text.prefix(Self.maximumBytes))
        if text.count > Self.maximumBytes { omitted = (1, text) }
    }

    /// Returns the allowed part of a `style` attribute's value.
    static func declarations(_ text: ArraySlice<UInt8>) -> (
        style: [UInt8], omitted: (count: Int, example: ArraySlice<UInt8>)
    ) {
        var filter = StyleFilter(text)
        let style = filter.declarations(0..<filter.bytes.count)
        return (style, filter.omitted)
    }

    /// Returns the allowed part of a `style` element's content.
    ///
    /// - Parameter media: The value of the `media` attribute.
    static func sheet(
        _ text: ArraySlice<UInt8>, media: ArraySlice<UInt8>? = nil
    ) -> (style: [UInt8], omitted: (count: Int, example: ArraySlice<UInt8>)) {
        var filter = StyleFilter(text)
        var prelude: [UInt8] = []
        if let media {
            guard let valid = condition(media) else { return ([], (1, media)) }
            prelude = valid
        }
        let style = filter.rules(depth: prelude.isEmpty ? 0 : 1)
        guard !prelude.isEmpty, !style.isEmpty else { return (style, filter.omitted) }
        return (Self.media(prelude, style), filter.omitted)
    }

    private static func withoutComments(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            let byte = text[position]
            let length =
                switch byte {
                case UInt8(ascii: "/") where text[position...].starts(with: [0x2F, 0x2A]):
                    commentLength(text[position...])
                // The markers that hide style sheets from very old browsers.
                case UInt8(ascii: "<") where text[position...].starts(with: [0x3C, 0x21, 0x2D, 0x2D]): 4
                case UInt8(ascii: "-") where text[position...].starts(with: [0x2D, 0x2D, 0x3E]): 3
                default: 0
                }
            result.append(length > 0 ? 0x20 : byte)
            position += max(1, length)
        }
        return result
    }

    private static func commentLength(_ text: ArraySlice<UInt8>) -> Int {
        var rest = text.dropFirst(2)
        while let star = rest.firstIndex(of: UInt8(ascii: "*")) {
            if star + 1 < text.endIndex, text[star + 1] == UInt8(ascii: "/") { return star + 2 - text.startIndex }
            rest = text[(star + 1)...]
        }
        return text.count
    }

    private mutating func omit(_ range: Range<Int>) {
        if omitted.count == 0 { omitted.example = bytes[range] }
        omitted.count += 1
    }

    // MARK: Rules

    /// Returns the rules up to the closing brace, or to the end.
    private mutating func rules(depth: Int) -> [UInt8] {
        var output: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "}") {
                position += 1
                if depth > 0 { return output }
            } else if isSpace(byte) || byte == UInt8(ascii: ";") {
                position += 1
            } else {
                rule(depth, &output)
            }
        }
        return output
    }

    private mutating func rule(_ depth: Int, _ output: inout [UInt8]) {
        let start = position
        passTo { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: ";") }
        let prelude = start..<position
        guard position < bytes.count, bytes[position] == UInt8(ascii: "{") else { return omit(prelude) }
        position += 1
        ruleCount += 1
        let text = Self.words(bytes[prelude])
        if text.first == UInt8(ascii: "@") {
            let name = Array("@media".utf8)
            if text.prefix(name.count).map(lowered) == name, depth < Self.maximumDepth,
                let condition = Self.condition(text.dropFirst(name.count)), !condition.isEmpty
            {
                let inner = self.rules(depth: depth + 1)
                if !inner.isEmpty { output += Self.media(condition, inner) }
            } else {
                passBlock()
                omit(prelude)
            }
            return
        }
        let body = position
        passBlock()
        let end = position > body && bytes[position - 1] == UInt8(ascii: "}") ? position - 1 : position
        guard ruleCount <= Self.maximumRules, text.count <= Self.maximumSelectorBytes, !text.isEmpty,
            text.allSatisfy(Self.isSelectorByte), Self.isBalanced(text)
        else { return omit(prelude) }
        let declarations = self.declarations(body..<max(body, end))
        guard !declarations.isEmpty else { return }
        output += text
        output.append(UInt8(ascii: "{"))
        output += declarations
        output.append(UInt8(ascii: "}"))
    }

    /// Skips to the next matching byte outside of strings, or to the end.
    private mutating func passTo(_ isWanted: (UInt8) -> Bool) {
        while position < bytes.count, !isWanted(bytes[position]) { passOne() }
    }

    /// Skips to the position after the matching closing brace.
    private mutating func passBlock() {
        var depth = 1
        while depth > 0, position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
            passOne()
        }
    }

    /// Skips a byte, an escape, or a whole string. A string ends at the end of its line at the
    /// latest.
    private mutating func passOne() {
        let byte = bytes[position]
        position += 1
        if byte == UInt8(ascii: "\\") { position = min(bytes.count, position + 1) }
        guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { return }
        while position < bytes.count, bytes[position] != byte, bytes[position] != 0x0A {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(bytes.count, position + 1)
    }

    /// Returns text without leading and trailing white space, and with single spaces elsewhere.
    static func words(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var result: [UInt8] = []
        for byte in text {
            if !isSpace(byte) {
                result.append(byte)
            } else if !result.isEmpty, result.last != 0x20 {
                result.append(0x20)
            }
        }
        if result.last == 0x20 { result.removeLast() }
        return result[...]
    }

    private static func isSelectorByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || " .#*>+~,:-_()".utf8.contains(byte)
    }

    /// Returns `true` if all parentheses are closed. Otherwise a browser would search for the
    /// closing parenthesis in the following text.
    private static func isBalanced(_ text: ArraySlice<UInt8>) -> Bool {
        var depth = 0
        for byte in text where depth >= 0 {
            if byte == UInt8(ascii: "(") { depth += 1 } else if byte == UInt8(ascii: ")") { depth -= 1 }
        }
        return depth == 0
    }

    private static func condition(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let condition = words(text)
        guard condition.count <= maximumSelectorBytes,
            condition.allSatisfy({ isLetter($0) || isDigit($0) || " ():.,-".utf8.contains($0) }), isBalanced(condition)
        else { return nil }
        return Array(condition)
    }

    private static func media(_ condition: [UInt8], _ rules: [UInt8]) -> [UInt8] {
        Array("@media ".utf8) + condition + [UInt8(ascii: "{")] + rules + [UInt8(ascii: "}")]
    }

    // MARK: Declarations

    private mutating func declarations(_ range: Range<Int>) -> [UInt8] {
        var output: [UInt8] = []
        var count = 0
        let rest = position
        position = range.lowerBound
        defer { position = rest }
        while position < range.upperBound {
            let start = position
            var depth = 0
            while position < range.upperBound {
                let byte = bytes[position]
                if byte == UInt8(ascii: ";"), depth == 0 { break }
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth = max(0, depth - 1) }
                passOne()
            }
            position = min(position, range.upperBound)
            let whole = start..<position
            position += 1
            let text = Self.words(bytes[whole])
            guard !text.isEmpty else { continue }
            count += 1
            guard count <= Self.maximumDeclarations, let declaration = StyleDeclaration(text) else {
                omit(whole)
                continue
            }
            if !output.isEmpty { output.append(UInt8(ascii: ";")) }
            output += declaration.bytes
        }
        return output
    }
}
