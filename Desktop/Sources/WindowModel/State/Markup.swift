// SPDX-License-Identifier: Apache-2.0

/// Texts in Pango's markup language.
package enum Markup {
    /// Returns a text in which the search words are bold.
    package static func text(_ pieces: [ResultRow.Piece]) -> String {
        pieces.map { $0.isFound ? "<b>\(escaped($0.text))</b>" : escaped($0.text) }.joined()
    }

    /// Returns a text with its markup characters escaped. Characters that markup cannot contain are
    /// left out.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\u{9}", "\u{A}", "\u{20}"...:
                if scalar.value & 0xFFFE != 0xFFFE { escaped.unicodeScalars.append(scalar) }
            default: break
            }
        }
        return escaped
    }
}
