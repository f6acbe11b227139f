// SPDX-License-Identifier: Apache-2.0

/// The content security policy of HTML previews: layout is allowed, and nothing active.
///
/// It is the second line of defence behind ``HTMLSanitizer``: in viewers that enforce it, such as
/// browsers, it blocks scripts, loads, frames and forms. It does not restrict links that the user
/// follows.
public enum ContentPolicy {
    /// The encoding of the page.
    static let charset = "<meta charset=\"utf-8\">"

    /// The policy as HTML elements: no scripts, no loads, no forms, no DNS prefetch for links.
    /// Inline styles and inline images are allowed.
    public static let metaElement = """
        \(charset)<meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">\
        <meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">
        """
}
