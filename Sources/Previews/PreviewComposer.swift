// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import UniformTypeIdentifiers

/// The error for an extension's preview that cannot be shown. In that case the preview shows the
/// item's attributes.
public struct PreviewRefusal: Error, Hashable, CustomStringConvertible {
    /// A sentence without a full stop, to follow “it”.
    public var reason: String

    /// The reason as a complete sentence.
    public var description: String { "The rendering of the extension cannot be shown: \(reason)." }
}

/// Makes an extension's reply safe to show: it checks the content against its type and rewrites
/// HTML.
public struct PreviewComposer: Sendable {
    private let query: String?

    /// The maximum length of a title, in characters.
    public static let maximumTitleCharacters = 1000
    /// The maximum size in either direction, in points. A larger size is ignored.
    public static let maximumSide = 20_000.0

    /// Creates a composer.
    ///
    /// - Parameter query: The user's query. Its words are marked in HTML that has no marks of its
    ///   own.
    public init(query: String?) { self.query = query }

    /// Makes a rendered preview safe to show. Blocks the calling thread for some milliseconds per
    /// megabyte.
    ///
    /// - Parameters:
    ///   - header: The extension's description of the preview.
    ///   - bytes: The content and all attachments.
    ///   - title: The title if the preview has none.
    ///   - isCancelled: Called repeatedly; returns `true` if the result is no longer needed.
    /// - Returns: The preview; `nil` if it was cancelled.
    /// - Throws: ``PreviewRefusal``.
    public func preview(
        _ header: PreviewHeader, bytes: [UInt8], title: String, isCancelled: () -> Bool = { false }
    ) throws(PreviewRefusal) -> Preview? {
        let (content, attachments) = header.parts(of: bytes)
        try Self.check(content, type: header.contentType)
        var preview = Preview(
            title: header.title.map { DisplayText.line($0, limit: Self.maximumTitleCharacters) } ?? title,
            contentType: header.contentType, content: [], source: .extension,
            size: header.size.flatMap { max($0.width, $0.height) > Self.maximumSide ? nil : $0 })
        switch header.contentType {
        case UTType.html.identifier:
            let sanitizer = HTMLSanitizer(
                attachments: zip(header.attachments, attachments).map { attachment, bytes in
                    PreviewAttachment(
                        identifier: attachment.identifier, contentType: attachment.contentType, bytes: bytes)
                }, highlighter: query.map { Highlighter(query: $0) })
            let page: SanitizedPage
            do throws(CancellationError) {
                page = try sanitizer.page(Self.utf8(content)[...], isCancelled: isCancelled)
            } catch {
                return nil
            }
            (preview.content, preview.removals) = (page.html, page.removals)
        case UTType.plainText.identifier, UTType.utf8PlainText.identifier: preview.content = Self.utf8(content)
        default: preview.content = Array(content)
        }
        return preview
    }

    /// Checks that bytes have a type, to the extent that the bytes show it.
    static func check(_ content: ArraySlice<UInt8>, type: String) throws(PreviewRefusal) {
        guard Preview.contentTypes.contains(type) else {
            throw PreviewRefusal(reason: "content of type \(type) cannot be shown")
        }
        guard !content.isEmpty else { throw PreviewRefusal(reason: "it is empty") }
        // HTML is checked as plain text, because text without any elements is a valid page.
        let judged = type == UTType.html.identifier ? UTType.plainText.identifier : type
        if let problem = ContentSniffer.mismatch(Array(content), type: judged) {
            throw PreviewRefusal(reason: "it is declared as \(type), but \(problem)")
        }
        if judged != type, let other = ["%PDF-", "{\\rtf"].first(where: { content.starts(with: Array($0.utf8)) }) {
            throw PreviewRefusal(reason: "it is declared as \(type), but it begins with \(other)")
        }
        guard type == UTType.png.identifier || type == UTType.jpeg.identifier else { return }
        guard let header = ImageHeader(content) else {
            throw PreviewRefusal(reason: "it is a picture without a size")
        }
        guard !header.isTooLarge else {
            throw PreviewRefusal(
                reason: "it is a picture that claims \(header.width) × \(header.height) pixels; the limit is "
                    + "\(ImageHeader.maximumPixels), and \(ImageHeader.maximumSide) in a row")
        }
    }

    /// Returns the text as UTF-8 without a byte order mark. Text with a UTF-16 mark is converted.
    private static func utf8(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let isBig = text.starts(with: [0xFE, 0xFF])
        guard isBig || text.starts(with: [0xFF, 0xFE]) else {
            return Array(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text)
        }
        let units = stride(from: text.startIndex + 2, to: text.endIndex - 1, by: 2).map { position in
            let (first, second) = (UInt16(text[position]), UInt16(text[position + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
