// SPDX-License-Identifier: Apache-2.0
import Previews
import QuickLookServer

extension FuzzTarget {
    private static let markup = [
        "<", ">", "</", "\"", "'", "&", ";", "=", "/", "<!--", "-->", "<style>", "</style>", "{", "}", "<svg>", "\\",
        "<script>", "javascript:", "url(", "<table>", "<![CDATA[", "<template>", "@import ", "expression(", "&#x",
    ]
    private static let html = [
        """
        <!DOCTYPE html><html><head><title>T</title><style>p { color: red; background: url(x) } @media print { a {} }</style>
        </head><body onload="x()"><p class=a style="color:blue">é &amp; &lt;<b>bold<i>both</b></i><img src="cid:part">
        <a href="https://example.org/?a=1&b=2">link</a><table><tr><td rowspan=2>1<td>2</table><script>alert(1)</script>
        """,
        "<svg><style><img src=x onerror=alert(1)></style></svg><math><mtext><table><mglyph><style><!--</style>",
        "<a href=\"java&#x0A;script:alert(1)\">x</a><iframe srcdoc='<script>'></iframe><meta http-equiv=refresh>",
    ]

    /// Previews from extensions, and requests from browsers.
    static let pages = [
        FuzzTarget(name: "html", tokens: markup, samples: { html.map { Array($0.utf8) } }) { bytes in
            let page = try HTMLSanitizer(limit: 1 << 20).page(bytes[...])
            let again = try HTMLSanitizer(limit: 1 << 20).page(page.html[...]).html
            try require(
                again == page.html,
                "\(String(decoding: page.html, as: UTF8.self)) and then \(String(decoding: again, as: UTF8.self))")
            if let fault = fault(in: page.html) { throw Broken(fault) }
            return true
        },
        FuzzTarget(name: "pageText", tokens: markup, samples: { html.map { Array($0.utf8) } }) { bytes in
            for width in [nil, 1, 40] as [Int?] {
                let page = PageText(bytes, width: width)
                try require(page.pieces.reduce(0) { $0 + $1.text.utf8.count } <= 2 * PageText.maximumBytes, "too long")
            }
            return true
        },
        FuzzTarget(
            name: "richText",
            tokens: ["{\\rtf1 ", "\\par ", "\\u233?", "\\'e9", "{\\*", "\\bin9 ", "\\uc2 ", "}", "{"],
            samples: {
                [Array(#"{\rtf1\ansi{\fonttbl\f0 Arial;}\f0\b Bold\b0\par caf\'e9 \u8364?{\*\x hidden}\tab end}"#.utf8)]
            }
        ) { bytes in
            let text = RichText.text(of: bytes)
            try require(text.utf8.count <= RichText.maximumTextBytes, "too long")
            try require(
                text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" || $0 == "\t" },
                "control characters in \(text.debugDescription)")
            return !text.isEmpty
        },
        FuzzTarget(
            name: "picture", tokens: ["IHDR", "\u{89}PNG\r\n\u{1A}\n", "GIF89a", "RIFF", "WEBPVP8 "],
            samples: {
                [
                    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
                        + [0, 0, 0, 5, 0, 0, 0, 6, 8, 6, 0, 0, 0],
                    [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 0, 9, 0, 7, 1, 1, 0x11, 0],
                    Array("GIF89a".utf8) + [5, 0, 6, 0, 0, 0, 0],
                    Array("RIFF".utf8) + [30, 0, 0, 0] + Array("WEBPVP8X".utf8) + [
                        10, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 0, 0,
                    ],
                ]
            }
        ) { bytes in
            guard let header = ImageHeader(bytes[...]) else { return false }
            try require(header.width > 0 && header.height > 0, "\(header)")
            _ = (header.isTooLarge, header.type)
            return true
        },
        FuzzTarget(
            name: "previewType", tokens: ["%PDF-", "<html", "{\\rtf", "\u{FEFF}"],
            samples: { html.map { Array($0.utf8) } + [Array("%PDF-1.7".utf8), Array(#"{\rtf1 a}"#.utf8)] }
        ) { bytes in
            let types = [
                "public.html", "public.png", "public.jpeg", "public.rtf", "com.adobe.pdf", "public.plain-text", "x",
            ]
            let mismatches = types.map { ContentSniffer.mismatch(bytes, type: $0) }
            try require(mismatches.allSatisfy { ($0 ?? "").utf8.count < 500 }, "a very long message")
            return mismatches.contains(nil)
        },
        text(
            "shownText", tokens: ["\u{1B}[", "\u{202E}", "\r\n", "\u{0}", "\u{9B}", "\u{2028}"],
            samples: ["a\u{1B}[31mé日 b\n"]
        ) {
            let (text, line) = (DisplayText.safe($0), DisplayText.line($0, limit: 40))
            let hidden = (text + line).unicodeScalars.contains {
                ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || (0x7F...0x9F).contains($0.value) || $0 == "\u{202E}"
            }
            try require(!hidden, "\(text.debugDescription), \(line.debugDescription)")
            try require(!line.contains("\n") && line.count <= 41, "the line \(line.debugDescription)")
            return true
        },
        FuzzTarget(
            name: "httpRequest",
            tokens: [
                "\r\n", "\r\n\r\n", " ", ":", "Content-Length: ", "Transfer-Encoding: chunked", "%", "HTTP/1.1", "&",
                "=",
            ],
            samples: {
                [
                    "GET /abc/api/search?text=a%20b&limit=5 HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nCookie: searchlight=x\r\n\r\n",
                    "POST / HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\ncode=abc",
                ].map { Array($0.utf8) }
            }
        ) { bytes in
            let whole = requests(bytes, pieces: .max)
            for pieces in [1, 7] {
                let divided = requests(bytes, pieces: pieces)
                try require(divided == whole, "\(whole), in pieces of \(pieces) bytes \(divided)")
            }
            return whole.first.map { $0 != refusal } ?? false
        },
    ]

    /// Returns the first tag of a sanitised page that runs or loads anything, or could.
    ///
    /// “<” and “>” are escaped in texts and values, and quotes in values. Compares bytes, since as
    /// a character, “>” combines with a following mark.
    private static func fault(in html: [UInt8]) -> String? {
        for piece in html.split(separator: UInt8(ascii: "<")) {
            let tag = piece.prefix { $0 != UInt8(ascii: ">") }
            // Names and values alternate.
            let parts = tag.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self).lowercased() }
            if parts[0].hasPrefix("script") || parts.count.isMultiple(of: 2) { return "the tag \(parts)" }
            for index in stride(from: 0, to: parts.count, by: 2) {
                let (name, value) = (parts[index], index + 1 < parts.count ? parts[index + 1] : "")
                let isHarmless =
                    if name.hasSuffix(" href=") {
                        ["#", "http://", "https://", "mailto:"].contains { value.hasPrefix($0) }
                    } else if name.hasSuffix(" src=") {
                        value.hasPrefix("data:image/")
                    } else {
                        !name.contains(" on")
                    }
                guard isHarmless else { return "the attribute\(name)\(value)" }
            }
        }
        return nil
    }

    private static let refusal = "refused"

    /// Returns the requests in a stream that arrives in pieces, and the refusal that ends it.
    private static func requests(_ bytes: [UInt8], pieces: Int) -> [String] {
        var (reader, rest, results) = (RequestReader(), bytes[...], [String]())
        while !rest.isEmpty {
            let count = min(rest.count, reader.room, pieces)
            reader.receive(rest.prefix(count))
            rest = rest.dropFirst(count)
            reading: while true {
                switch reader.next() {
                case .incomplete: break reading
                case .refused: return results + [refusal]
                case .request(let request, let isLast):
                    let headers = request.headers.sorted { $0.key < $1.key }
                    let texts = [request.arguments, request.form].map { $0.sorted { $0.key < $1.key } }
                    results.append("\(request.method) \(request.path) \(texts) \(headers)")
                    if isLast { return results }
                }
            }
        }
        return results
    }
}
