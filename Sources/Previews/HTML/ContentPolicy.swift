// SPDX-License-Identifier: Apache-2.0

/// What an HTML preview may do in whatever shows it: lay itself out, and nothing by itself.
///
/// The second line behind ``HTMLSanitizer``: the policy keeps scripts, loads, frames and forms out of viewers that heed it,
/// as browsers do. It does not know links: one that a person follows leads where it says.
public enum ContentPolicy {
    /// How the page is encoded.
    static let charset = "<meta charset=\"utf-8\">"

    /// The policy as HTML elements: no scripts, no loads, no forms, no name look-ups for links; inline styles and inline
    /// images stay.
    public static let metaElement = """
        \(charset)<meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">\
        <meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">
        """
}
