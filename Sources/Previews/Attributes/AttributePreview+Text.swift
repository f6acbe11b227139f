// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A piece of text for a terminal.
public struct TextPiece: Hashable, Sendable {
    /// How it looks where that can be.
    public enum Style: Hashable, Sendable {
        /// As text is.
        case plain
        /// What was searched for.
        case found
        /// Bold.
        case strong
        /// Paler than text: what only names something else.
        case faint
        /// Italic.
        case emphasis
        /// Typed letter by letter.
        case code
        /// The text of a link.
        case link
    }

    /// What it says; no control characters but line feeds and tabs.
    public var text: String
    /// How it looks.
    public var style: Style

    /// Creates a piece.
    public init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }
}

extension AttributePreview {
    /// The preview as text.
    public var text: String { textPieces(width: nil).map(\.text).joined() }

    /// The preview as text, in pieces and in order.
    ///
    /// - Parameter width: After how many columns lines are broken, between words where that is possible; `nil` leaves them as
    ///   they are.
    public func textPieces(width: Int?) -> [TextPiece] {
        let width = width.map { max(20, $0) }
        var pieces = wrapped(title, .strong, width)
        pieces.append(
            TextPiece("\n" + String(repeating: "─", count: min(width ?? 72, 72, max(1, TextWidth.of(title))))))
        let names = facts.map(\.name.count).max() ?? 0
        for fact in facts {
            pieces.append(TextPiece("\n" + fact.name.padding(toLength: names + 2, withPad: " ", startingAt: 0), .faint))
            pieces += TextWrapping.wrapped([TextPiece(fact.value)], width: width, indent: names + 2)
        }
        for passage in [description, content].compactMap(\.self) {
            pieces.append(TextPiece("\n\n"))
            pieces += wrapped(passage, .plain, width)
        }
        return pieces
    }

    private func wrapped(_ text: String, _ style: TextPiece.Style, _ width: Int?) -> [TextPiece] {
        TextWrapping.wrapped(highlighter.textPieces(of: text, style), width: width)
    }
}

extension Highlighter {
    /// A text for a terminal with what was searched for in it.
    public func textPieces(of text: String, _ style: TextPiece.Style = .plain) -> [TextPiece] {
        pieces(of: text).map { TextPiece(String($0.text), $0.isHighlight ? .found : style) }
    }
}
