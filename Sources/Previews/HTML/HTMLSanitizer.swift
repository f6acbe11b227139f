// SPDX-License-Identifier: Apache-2.0

/// A page that was written anew.
public struct SanitizedPage: Sendable {
    /// A complete document in UTF-8 under ``ContentPolicy``.
    public var html: [UInt8]
    /// What was left out, in the order of ``Removal/Kind``.
    public var removals: [Removal]
}

/// Writes an extension's HTML anew, from what a preview may have and nothing else (docs/EXTENSIONS.md).
///
/// The page is cut into tags and text, and of these a new one is written: elements, attributes, addresses and styles are
/// compared with lists of what may be, tags are balanced, values are quoted and escaped. What is written has no element whose
/// content is read other than as HTML, but `style`, so that every browser reads it the same. Sanitising it again gives the
/// same bytes. Linear in the length of the page; memory is bounded by ``Preview/maximumBytes``.
public struct HTMLSanitizer {
    /// How deep elements nest in what is written. Browsers nest no deeper than 512.
    public static let maximumDepth = 200

    private let attachments: [PreviewAttachment]
    private let highlighter: Highlighter?
    private let limit: Int
    /// After so many tokens it is looked whether anybody still waits.
    private static let tokensBetweenLooks = 512

    /// Creates a sanitiser.
    ///
    /// - Parameters:
    ///   - attachments: What the page may show by `cid:NAME` or `NAME`.
    ///   - highlighter: Marks words in the text of a page that marks nothing itself.
    ///   - limit: The most bytes of the result.
    public init(
        attachments: [PreviewAttachment] = [], highlighter: Highlighter? = nil, limit: Int = Preview.maximumBytes
    ) {
        self.attachments = attachments
        self.highlighter = highlighter
        self.limit = limit
    }

    /// Writes a page anew. Blocks the caller for as long as that takes.
    ///
    /// - Parameters:
    ///   - page: HTML in UTF-8; whatever else it is becomes text.
    ///   - isCancelled: Asked now and then; `true` ends it.
    /// - Throws: `CancellationError`.
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

    /// Whether a page has an element `mark`.
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
