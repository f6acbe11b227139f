// SPDX-License-Identifier: Apache-2.0

/// The text of a search as the desktop sends it.
package enum DesktopQuery {
    /// The maximum length of a text, in bytes. The rest is ignored, since no user types that much.
    package static let maximumBytes = 500
    /// The maximum number of terms.
    private static let maximumTerms = 100

    /// Joins the terms that GNOME Shell creates by splitting the typed text at white space, so that
    /// quotation marks and filters keep their meaning.
    package static func text(of terms: [String]) -> String {
        var text = ""
        for term in terms.prefix(maximumTerms) where !term.isEmpty {
            let space = text.isEmpty ? "" : " "
            let room = maximumBytes - text.utf8.count - space.utf8.count
            guard room > 0 else { break }
            text += space + start(of: term, bytes: room)
        }
        return text
    }

    /// Returns the beginning of a typed text, at most ``maximumBytes``.
    package static func text(of typed: String) -> String { String(start(of: typed, bytes: maximumBytes)) }

    /// Returns the longest prefix of whole characters with at most this number of bytes.
    private static func start(of text: String, bytes: Int) -> Substring {
        guard var end = text.utf8.index(text.startIndex, offsetBy: bytes, limitedBy: text.endIndex) else {
            return text[...]
        }
        while end > text.startIndex, String.Index(end, within: text) == nil { end = text.utf8.index(before: end) }
        return text[..<end]
    }
}
