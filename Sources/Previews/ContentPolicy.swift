// SPDX-License-Identifier: Apache-2.0

/// What an HTML preview may do in whatever shows it: lay itself out, and nothing by itself.
///
/// The policy keeps scripts, loads, frames and forms out of viewers that heed it, as browsers do. It does not know links:
/// one that a person follows leads where it says, and hints such as `<link rel="preconnect">` may open a connection.
public enum ContentPolicy {
    /// The policy as HTML elements: no scripts, no loads, no forms, no name look-ups for links; inline styles and inline
    /// images stay.
    public static let metaElement = """
        <meta charset="utf-8"><meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">\
        <meta http-equiv="x-dns-prefetch-control" content="off">
        """

    private static let doctype = "<!doctype html>"

    /// An extension's HTML under the policy. The element goes before everything the extension wrote, because a policy
    /// holds only for what follows it; a plain doctype may stay in front, so that the page keeps standards mode.
    ///
    /// The extension's own `http-equiv` elements, of which `refresh` would lead elsewhere without being asked, lose
    /// their meaning.
    public static func applied(to html: String) -> String {
        let start = html.drop(while: \.isWhitespace)
        guard start.prefix(doctype.count).lowercased() == doctype else {
            return metaElement + withoutEquivalents(html[...])
        }
        return start.prefix(doctype.count) + metaElement + withoutEquivalents(start.dropFirst(doctype.count))
    }

    private static let attribute = Array("http-equiv".utf8)
    private static let hyphen = 4

    /// Writes the hyphen of every `http-equiv` as a character reference. HTML decodes references in text and in values,
    /// where a person sees no difference, and never in the name of an attribute, which then is another one.
    private static func withoutEquivalents(_ html: Substring) -> String {
        let bytes = Array(html.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if isAttribute(bytes[position...]) {
                result += bytes[position..<position + hyphen]
                result += Array("&#45;".utf8)
                position += hyphen + 1
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isAttribute(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first | 0x20 == attribute[0], bytes.count >= attribute.count else {
            return false
        }
        // A letter with this bit set is its lower case.
        return zip(bytes, attribute).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 && $1 != UInt8(ascii: "-")) }
    }
}
