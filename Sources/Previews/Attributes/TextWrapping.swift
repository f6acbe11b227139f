// SPDX-License-Identifier: Apache-2.0

/// The width of text in terminal columns.
public enum TextWidth {
    /// Returns the width of a text on one line.
    public static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    /// Returns the width of a character: 0, 1 or 2. A tab counts as one column.
    public static func of(_ character: Character) -> Int {
        if character.isASCII { return 1 }
        let scalars = character.unicodeScalars
        if scalars.contains("\u{FE0F}") { return 2 }
        guard let first = scalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return scalars.count > 1 ? 1 : 0
        default: return isWide(first) ? 2 : 1
        }
    }

    /// Returns `true` for East Asian wide characters and emoji, by blocks (Unicode Standard Annex
    /// 11).
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x1B000...0x1B16F, 0x1F1E6...0x1F1FF, 0x20000...0x3FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }
}

/// Line breaking for a terminal.
public enum TextWrapping {
    /// Returns the pieces with line feeds inserted where a line would exceed the width. A line feed
    /// replaces a space if there is one; otherwise it breaks the word. Styles are preserved.
    ///
    /// - Parameters:
    ///   - width: The width in columns; `nil` to break no lines.
    ///   - indent: The column in which the first and all further lines start.
    public static func wrapped(_ pieces: [TextPiece], width: Int?, indent: Int = 0) -> [TextPiece] {
        guard let width else { return pieces }
        let indent = min(indent, width / 2)
        var wrapper = Wrapper(width: max(1, width), indent: indent)
        for piece in pieces {
            for character in piece.text { wrapper.add(character, piece.style) }
        }
        return wrapper.finish()
    }

    private struct Wrapper {
        let width: Int
        let indent: Int
        var column: Int
        var output: [TextPiece] = []
        /// The characters since the last space.
        var word: [TextPiece] = []
        var wordWidth = 0
        /// The spaces before the word, which a line break replaces.
        var spaces: [TextPiece] = []
        var spacesWidth = 0

        init(width: Int, indent: Int) {
            (self.width, self.indent) = (width, indent)
            column = indent
        }

        mutating func add(_ character: Character, _ style: TextPiece.Style) {
            if character == "\n" {
                endWord()
                append(&output, spaces)
                clearSpaces()
                breakLine()
            } else if character == " " || character == "\t" {
                endWord()
                Self.append(&spaces, character, style)
                spacesWidth += 1
            } else {
                let width = TextWidth.of(character)
                if wordWidth + width > self.width - indent {
                    // A word that fills a whole line is broken.
                    endWord()
                }
                Self.append(&word, character, style)
                wordWidth += width
            }
        }

        mutating func finish() -> [TextPiece] {
            endWord()
            append(&output, spaces)
            return output
        }

        private mutating func endWord() {
            guard !word.isEmpty else { return }
            if column + spacesWidth + wordWidth > width {
                // At the start of a line there is nothing to break; only the spaces are dropped.
                if column > indent { breakLine() }
            } else {
                append(&output, spaces)
                column += spacesWidth
            }
            clearSpaces()
            append(&output, word)
            column += wordWidth
            (word, wordWidth) = ([], 0)
        }

        private mutating func clearSpaces() { (spaces, spacesWidth) = ([], 0) }

        private mutating func breakLine() {
            Self.append(&output, "\n", .plain)
            for _ in 0..<indent { Self.append(&output, " ", .plain) }
            column = indent
        }

        private func append(_ pieces: inout [TextPiece], _ more: [TextPiece]) {
            for piece in more {
                if pieces.last?.style == piece.style {
                    pieces[pieces.count - 1].text += piece.text
                } else {
                    pieces.append(piece)
                }
            }
        }

        private static func append(_ pieces: inout [TextPiece], _ character: Character, _ style: TextPiece.Style) {
            if pieces.last?.style == style {
                pieces[pieces.count - 1].text.append(character)
            } else {
                pieces.append(TextPiece(String(character), style))
            }
        }
    }
}
