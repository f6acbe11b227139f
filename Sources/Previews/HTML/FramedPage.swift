// SPDX-License-Identifier: Apache-2.0

/// A preview page for a frame in another page or in a window. Links open in a new window. Words of
/// the search are highlighted as in the rest of the program, unless the page styles `mark` itself.
public enum FramedPage {
    /// The element with the framing styles, which precede the page's own styles.
    private static let framing = Array(
        """
        <base target="_blank"><style>mark { background: light-dark(#f9e2a0, #6b4e00); \
        color: light-dark(#2e2a14, #ffe9a8); border-radius: 3px }</style>
        """.utf8)

    /// Inserts the framing into a page that was made by the sanitizer or from attributes. Such a
    /// page begins with the policy element.
    ///
    /// ```swift
    /// let framed = FramedPage.bytes(of: preview.content)
    /// ```
    public static func bytes(of page: [UInt8]) -> [UInt8] {
        // The element is near the beginning, except after long attributes of the root element.
        guard let head = page.firstRange(of: Array(ContentPolicy.metaElement.utf8)) else { return page }
        var page = page
        page.insert(contentsOf: framing, at: head.upperBound)
        return page
    }
}
