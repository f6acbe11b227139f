// SPDX-License-Identifier: Apache-2.0

/// Reads the scalars of a query once, from left to right.
///
/// The extent of a word depends on the context: an unquoted value may contain `*`, an attribute
/// may not. So the parser requests the token that it expects instead of receiving a stream of
/// tokens.
struct QueryScanner {
    private let scalars: [Unicode.Scalar]
    private(set) var position = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }
    var isAtEnd: Bool { position >= scalars.count }

    mutating func advance() { position += 1 }

    mutating func back(to earlier: Int) { position = earlier }

    mutating func skipSpace() {
        while let scalar = current, Self.isSpace(scalar) { position += 1 }
    }

    /// Skips an ASCII text if it is at the current position; returns `true` if it was.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard position + count <= scalars.count else { return false }
        for index in 0..<count where scalars[position + index].value != UInt32(text.utf8Start[index]) { return false }
        position += count
        return true
    }

    /// Reads the longest run of scalars that satisfy the condition.
    mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var taken = String.UnicodeScalarView()
        while let scalar = current, condition(scalar) {
            taken.append(scalar)
            position += 1
        }
        return String(taken)
    }

    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20, 0x09...0x0D, 0xA0, 0x85, 0x2028, 0x2029: true
        case 0x1680...: scalar.properties.isWhitespace
        default: false
        }
    }

    /// Returns `true` if the scalar can be part of an unquoted word. The caller handles
    /// backslashes.
    static func isBareWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "'", "(", ")", "[", "]", ",", "&", "|", "=", "<", ">", "!": false
        default: scalar.value >= 0x20 && scalar.value != 0x7F && !isSpace(scalar)
        }
    }

    // MARK: Errors

    func error(_ reason: QuerySyntaxError.Reason, expected: String, at place: Int? = nil) -> QuerySyntaxError {
        let place = min(place ?? position, scalars.count)
        var offset = 0
        var line = 1
        var column = 1
        for scalar in scalars[..<place] {
            offset += UTF8.width(scalar)
            if scalar == "\n" {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
        return QuerySyntaxError(
            reason: reason, position: .init(utf8Offset: offset, line: line, column: column), found: found(at: place),
            expected: expected)
    }

    /// Returns the word or symbol at a position, in quotes; at most 24 scalars.
    private func found(at place: Int) -> String {
        guard place < scalars.count else { return "the end of the query" }
        var word = String.UnicodeScalarView()
        let isName = Self.isBareWord(scalars[place])
        for scalar in scalars[place...] {
            if Self.isBareWord(scalar) != isName || Self.isSpace(scalar) { break }
            if word.count == 24 {
                word.append("…")
                break
            }
            word.append(scalar)
            // Shows a single symbol, except for operators that consist of two.
            if !isName, word.count == 2 || !"=!<>&|".unicodeScalars.contains(scalar) { break }
        }
        // Shows the code point of a control character or a separator.
        if word.isEmpty || word.first.map({ $0.value < 0x20 || $0.value == 0x7F }) == true {
            return "the character U+" + String(scalars[place].value, radix: 16, uppercase: true)
        }
        return "“" + String(word) + "”"
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case ..<0x80: 1
        case ..<0x800: 2
        case ..<0x10000: 3
        default: 4
        }
    }
}
