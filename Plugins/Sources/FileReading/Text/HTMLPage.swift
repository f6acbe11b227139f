// SPDX-License-Identifier: Apache-2.0

/// HTML pages for previews.
package enum HTMLPage {
    /// Returns a complete page without scripts, which loads only its own pictures.
    ///
    /// - Parameters:
    ///   - title: A text, not HTML.
    ///   - body: HTML.
    package static func page(title: String, body: String) -> String {
        """
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
        <title>\(title.escapedForHTML)</title>
        <style>
        :root { color-scheme: light dark; }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em; }
        pre { font: .9em/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
        h2 { font-size: .9em; font-weight: normal; opacity: .6; border-top: 1px solid; margin-top: 2em; }
        th { text-align: left; vertical-align: top; padding-right: 1em; font-weight: normal; opacity: .7; }
        .facts { opacity: .7; }
        img { max-width: 100%; border: 1px solid; }
        </style>
        </head>
        <body>
        \(body)</body>
        </html>

        """
    }

    /// - Parameters:
    ///   - title: The title as text.
    ///   - style: The style sheet, which must not close its own element.
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
    /// The text with each run of white space and line breaks replaced by a single space.
    package var oneLine: String {
        guard unicodeScalars.contains(where: { $0.properties.isWhitespace && $0 != " " }) else { return self }
        return split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
