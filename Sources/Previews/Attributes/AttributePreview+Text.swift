// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A styled piece of text for a terminal.
public struct TextPiece: Hashable, Sendable {
    /// The style on terminals that support it.
    public enum Style: Hashable, Sendable {
        /// Plain text.
        case plain
        /// A found word.
        case found
        /// Bold.
        case strong
        /// Fainter than plain text, for labels.
        case faint
        /// Italic.
        case emphasis
        /// Code.
        case code
        /// The text of a link.
        case link
    }

    /// The text, without control characters except line feeds and tabs.
    public var text: String
    /// The style.
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

    /// Returns the preview as styled pieces of text, in order.
    ///
    /// - Parameter width: The number of columns at which lines are broken, between words if
    ///   possible; `nil` to keep the lines.
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
    /// Returns a text as pieces, with the found words highlighted.
    public func textPieces(of text: String, _ style: TextPiece.Style = .plain) -> [TextPiece] {
        pieces(of: text).map { TextPiece(String($0.text), $0.isHighlight ? .found : style) }
    }
}
