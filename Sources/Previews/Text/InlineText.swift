// SPDX-License-Identifier: Apache-2.0

/// The text of the block or cell that is being read. White space collapses as in a browser, unless
/// it is preformatted.
struct InlineText {
    private var pieces: [TextPiece] = []
    /// A pending space, which is written before the next character on the line.
    private var space: TextPiece.Style?
    /// The number of columns since the last line feed.
    private var column = 0

    private static let tabWidth = 8

    /// `true` if there was only white space.
    var isEmpty: Bool { pieces.isEmpty }

    mutating func append(_ text: String, _ style: TextPiece.Style) {
        for character in text {
            if character == " " || character == "\n" || character == "\t" {
                if column > 0, space == nil { space = style }
            } else {
                if let space { add(" ", space) }
                space = nil
                add(character, style)
            }
        }
    }

    /// Appends preformatted text. Tabs become spaces, because the text does not start at one of the
    /// terminal's tab stops.
    mutating func appendPreformatted(_ text: String, _ style: TextPiece.Style) {
        for character in text {
            switch character {
            case "\n": breakLine()
            case "\t": for _ in 0..<(Self.tabWidth - column % Self.tabWidth) { add(" ", style) }
            default: add(character, style)
            }
        }
    }

    /// Starts a new line.
    mutating func breakLine() {
        add("\n", .plain)
        (space, column) = (nil, 0)
    }

    /// Starts a new line, unless the current one is empty.
    mutating func endLine() {
        if column > 0 { breakLine() }
    }

    /// Returns the text without trailing line feeds, and resets the state.
    mutating func take() -> [TextPiece] {
        while pieces.last?.text.last == "\n" {
            pieces[pieces.count - 1].text.removeLast()
            if pieces.last?.text.isEmpty == true { pieces.removeLast() }
        }
        defer { self = InlineText() }
        return pieces
    }

    private mutating func add(_ character: Character, _ style: TextPiece.Style) {
        column += TextWidth.of(character)
        if pieces.last?.style == style {
            pieces[pieces.count - 1].text.append(character)
        } else {
            pieces.append(TextPiece(String(character), style))
        }
    }
}
