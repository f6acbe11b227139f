// SPDX-License-Identifier: Apache-2.0

/// The content security policy for HTML previews, which allows layout but no active content.
///
/// It is a second line of defence in addition to ``HTMLSanitizer``: in viewers that enforce it,
/// such as browsers, it blocks scripts, external resources, frames and forms. It does not restrict
/// links that the user follows.
public enum ContentPolicy {
    /// The declaration of the page's encoding.
    static let charset = "<meta charset=\"utf-8\">"

    /// The policy as HTML elements: no scripts, no external resources, no forms, no DNS prefetch
    /// for links. Inline styles and inline images are allowed.
    public static let metaElement = """
        \(charset)<meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">\
        <meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">
        """
}
