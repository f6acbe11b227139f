// SPDX-License-Identifier: Apache-2.0

/// The text of a block or a cell while it is read: white space collapses as in a browser, unless it is preformatted.
struct InlineText {
    private var pieces: [TextPiece] = []
    /// A space that is written once something follows on the line.
    private var space: TextPiece.Style?
    /// How many columns there are since the last line feed.
    private var column = 0

    private static let tabWidth = 8

    /// Whether nothing but white space came.
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

    /// Appends text whose white space counts. Tabs become spaces, since a terminal's do not begin where the text does.
    mutating func appendPreformatted(_ text: String, _ style: TextPiece.Style) {
        for character in text {
            switch character {
            case "\n": breakLine()
            case "\t": for _ in 0..<(Self.tabWidth - column % Self.tabWidth) { add(" ", style) }
            default: add(character, style)
            }
        }
    }

    /// Goes to the next line.
    mutating func breakLine() {
        add("\n", .plain)
        (space, column) = (nil, 0)
    }

    /// Goes to the next line, unless it is at the beginning of one.
    mutating func endLine() {
        if column > 0 { breakLine() }
    }

    /// What was read, without line feeds at its end; it begins anew.
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
