// SPDX-License-Identifier: Apache-2.0
import Previews

/// A text to print. Control characters in values are removed, so only this type's styles produce
/// terminal sequences.
///
/// `"\(value)"` puts a value on one line, and `"\(text: value)"` keeps its lines. Literal text in
/// the source is printed unchanged.
package struct StyledText: ExpressibleByStringInterpolation {
    package enum Style {
        case plain
        case bold
        case dim
        case found
        case good
        case bad
        case italic
        case underlined
        case code

        fileprivate var code: String? {
            switch self {
            case .plain: nil
            case .bold: "1"
            case .dim: "2"
            case .found: "1;33"
            case .good: "32"
            case .bad: "1;31"
            case .italic: "3"
            case .underlined: "4"
            case .code: "36"
            }
        }
    }

    private var pieces: [(text: String, style: Style)] = []

    package init(stringLiteral text: String) { pieces = [(text, .plain)] }
    package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// Creates a text from parts. The parts that a search matched are highlighted.
    package init(_ parts: [(text: Substring, isMarked: Bool)]) {
        pieces = parts.map { (DisplayText.safe(String($0.text)), $0.isMarked ? .found : .plain) }
    }

    /// Creates a text from styled pieces.
    package init(_ parts: [TextPiece]) {
        pieces = parts.map { piece in
            let style: Style =
                switch piece.style {
                case .plain: .plain
                case .found: .found
                case .strong: .bold
                case .faint: .dim
                case .emphasis: .italic
                case .code: .code
                case .link: .underlined
                }
            return (DisplayText.safe(piece.text), style)
        }
    }

    package static func + (first: Self, second: Self) -> Self {
        var both = first
        both.pieces += second.pieces
        return both
    }

    /// Returns the text for a coloured terminal, or as plain text. A style ends at the end of each
    /// line and starts again on the next, since pagers and multiplexers may show lines separately.
    package func rendered(coloured: Bool) -> String {
        pieces.map { piece in
            guard coloured, let code = piece.style.code else { return piece.text }
            return piece.text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.isEmpty ? "" : "\u{1B}[\(code)m\($0)\u{1B}[0m" }.joined(separator: "\n")
        }.joined()
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [(text: String, style: Style)] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}
        package mutating func appendLiteral(_ text: String) { pieces.append((text, .plain)) }
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) { add(value, .plain) }
        package mutating func appendInterpolation(bold value: some CustomStringConvertible) { add(value, .bold) }
        package mutating func appendInterpolation(dim value: some CustomStringConvertible) { add(value, .dim) }
        package mutating func appendInterpolation(found value: some CustomStringConvertible) { add(value, .found) }
        package mutating func appendInterpolation(good value: some CustomStringConvertible) { add(value, .good) }
        package mutating func appendInterpolation(bad value: some CustomStringConvertible) { add(value, .bad) }
        package mutating func appendInterpolation(text value: some CustomStringConvertible) {
            pieces.append((DisplayText.safe(value.description), .plain))
        }
        package mutating func appendInterpolation(_ text: StyledText) { pieces += text.pieces }

        private mutating func add(_ value: some CustomStringConvertible, _ style: Style) {
            let line = DisplayText.safe(value.description).map { $0 == "\n" || $0 == "\t" ? " " : $0 }
            pieces.append((String(line), style))
        }
    }
}

/// Returns a number of things, such as “1 item” or “2 items”.
package func counted(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

extension String {
    /// Returns the text padded with spaces to a number of characters; longer text is unchanged.
    /// Foundation's `padding(toLength:)` counts UTF-16 units and cuts longer text.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
