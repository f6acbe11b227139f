// SPDX-License-Identifier: Apache-2.0

/// What an HTML preview may do in whatever shows it: nothing but lay itself out.
public enum ContentPolicy {
    /// The policy as an HTML element: no scripts, no loads, no forms; inline styles and inline images stay.
    public static let metaElement = """
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">
        """

    private static let doctype = "<!doctype html>"

    /// An extension's HTML under the policy. The element goes before everything the extension wrote, because a policy
    /// holds only for what follows it; a plain doctype may stay in front, so that the page keeps standards mode.
    public static func applied(to html: String) -> String {
        let start = html.drop(while: \.isWhitespace)
        guard start.prefix(doctype.count).lowercased() == doctype else { return metaElement + html }
        return start.prefix(doctype.count) + metaElement + start.dropFirst(doctype.count)
    }
}
