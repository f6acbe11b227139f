// SPDX-License-Identifier: Apache-2.0

/// A sanitised page.
public struct SanitizedPage: Sendable {
    /// A complete document in UTF-8 with ``ContentPolicy``.
    public var html: [UInt8]
    /// The removed parts, in the order of ``Removal/Kind``.
    public var removals: [Removal]
}

/// Rewrites an extension's HTML so that it only contains allowed parts (docs/EXTENSIONS.md).
///
/// The page is split into tags and text, from which a new page is written. Elements, attributes,
/// addresses and styles are checked against allow lists, tags are balanced, and values are quoted
/// and escaped.
///
/// Only the content of `style` is not parsed as HTML, so all browsers interpret the output in the
/// same way. Sanitising the output again gives the same bytes. The time is linear in the length of
/// the page. Memory is bounded by ``Preview/maximumBytes``.
public struct HTMLSanitizer {
    /// The maximum nesting depth of elements in the output. Browsers support at most 512 levels.
    public static let maximumDepth = 200

    private let attachments: [PreviewAttachment]
    private let highlighter: Highlighter?
    private let limit: Int
    /// The number of tokens between checks for cancellation.
    private static let tokensBetweenLooks = 512

    /// Creates a sanitiser.
    ///
    /// - Parameters:
    ///   - attachments: The attachments that the page may show by `cid:NAME` or `NAME`.
    ///   - highlighter: Marks words in a page that has no marks of its own.
    ///   - limit: The maximum size of the result, in bytes.
    public init(
        attachments: [PreviewAttachment] = [], highlighter: Highlighter? = nil, limit: Int = Preview.maximumBytes
    ) {
        self.attachments = attachments
        self.highlighter = highlighter
        self.limit = limit
    }

    /// Sanitises a page. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - page: HTML in UTF-8. Any other input is treated as text.
    ///   - isCancelled: Called repeatedly; `true` cancels the call.
    /// - Throws: `CancellationError` if the call was cancelled.
    public func page(
        _ page: ArraySlice<UInt8>, isCancelled: () -> Bool = { false }
    ) throws(CancellationError) -> SanitizedPage {
        let bytes = HTMLText.cleaned(page)
        let highlighter = Self.marks(bytes) ? nil : highlighter
        var tokenizer = HTMLTokenizer(bytes)
        var writer = HTMLPageWriter(bytes, PictureStore(attachments), highlighter, limit: limit)
        var count = 0
        while let token = tokenizer.next() {
            count += 1
            if count.isMultiple(of: Self.tokensBetweenLooks), isCancelled() { throw CancellationError() }
            writer.take(token)
        }
        return writer.finish()
    }

    /// Returns `true` if a page has a `mark` element.
    private static func marks(_ bytes: [UInt8]) -> Bool {
        let mark = Array("<mark".utf8)
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            if hasLowered(bytes[start...], mark) { return true }
            rest = bytes[(start + 1)...]
        }
        return false
    }
}
