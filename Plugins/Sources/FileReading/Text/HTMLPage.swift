// SPDX-License-Identifier: Apache-2.0

/// Pages of HTML for previews.
package enum HTMLPage {
    /// - Parameters:
    ///   - title: The title as text.
    ///   - style: The style sheet, which must not end its element.
    ///   - body: The content as HTML.
    package static func text(title: String, style: String, body: String) -> String {
        """
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta name="color-scheme" content="light dark">
        <title>\(title.oneLine.escapedForHTML)</title>
        <style>\(style)</style>
        </head>
        <body>
        \(body)</body>
        </html>

        """
    }
}

extension String {
    /// The text with white space and line breaks as single spaces.
    package var oneLine: String {
        guard unicodeScalars.contains(where: { $0.properties.isWhitespace && $0 != " " }) else { return self }
        return split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
