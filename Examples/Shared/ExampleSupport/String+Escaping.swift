// SPDX-License-Identifier: Apache-2.0
import Foundation

extension String {
    /// The text for HTML, in elements and in quoted attributes.
    public var escapedForHTML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    /// The text for a quoted value of a query, so that no character of it has a meaning of its own.
    public var escapedForQuery: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("*", with: "\\*")
            .replacing("?", with: "\\?")
    }

    /// The text in small letters, digits and hyphens, as an identifier.
    public var slug: String {
        let plain = folding(options: [.diacriticInsensitive, .caseInsensitive], locale: nil).lowercased()
        return plain.split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
    }
}
