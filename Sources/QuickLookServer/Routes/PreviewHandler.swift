// SPDX-License-Identifier: Apache-2.0
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization
import UniformTypeIdentifiers

/// Handles previews of items. Replies first with the facts about a preview, and then with the
/// content that was rendered with it.
final class PreviewHandler: Sendable {
    private let store: any EngineClient
    private let rendered = Mutex(Rendered())

    /// The most recently rendered previews, whose content the page will request next.
    private struct Rendered {
        struct Entry {
            var key: Int
            var item: StoredItem
            var query: String
            var preview: Preview
        }
        var next = 1
        var entries: [Entry] = []
        static let maximum = 8
        /// The maximum total size of all previews, in bytes. The newest one is always kept.
        static let maximumBytes = 64 << 20

        mutating func keep(_ preview: Preview, of item: StoredItem, _ query: String) -> Int {
            let key = next
            next += 1
            entries.append(Entry(key: key, item: item, query: query, preview: preview))
            while entries.count > 1, entries.count > Self.maximum || bytes > Self.maximumBytes { entries.removeFirst() }
            return key
        }

        private var bytes: Int { entries.reduce(0) { $0 + $1.preview.content.count } }
    }

    init(_ store: any EngineClient) { self.store = store }

    /// Returns the facts about a preview, with the URL of its content.
    func reply(for item: StoredItem, query: String) async throws -> PageReply {
        let preview = try await store.preview(of: item, query: query.isEmpty ? nil : query)
        // The user may have moved on to another item.
        try Task.checkCancellation()
        let key = rendered.withLock { $0.keep(preview, of: item, query) }
        return .json(Report(preview, of: item, query: query, key: key))
    }

    /// Returns the content of a preview that was rendered under a key, or renders it now.
    ///
    /// - Parameters:
    ///   - isFramed: `true` for a frame, which shows only HTML pages.
    ///   - item: Finds the item if the preview must be rendered.
    func content(
        key: Int?, query: String, isFramed: Bool, _ item: () async throws -> StoredItem
    ) async throws -> PageReply {
        let entry = key.flatMap { key in rendered.withLock { $0.entries.first { $0.key == key } } }
        if let entry { return await Self.reply(entry.preview, of: entry.item, query: entry.query, isFramed) }
        let item = try await item()
        let preview = try await store.preview(of: item, query: query.isEmpty ? nil : query)
        return await Self.reply(preview, of: item, query: query, isFramed)
    }

    private static func reply(
        _ preview: Preview, of item: StoredItem, query: String, _ isFramed: Bool
    ) async -> PageReply {
        switch Kind(preview.contentType) {
        case .html: return PageReply(type: html, policy: .preview, body: .bytes(FramedPage.bytes(of: preview.content)))
        case .text where isFramed:
            let page = TextPage.html(String(decoding: preview.content, as: UTF8.self), query: query)
            return PageReply(type: html, policy: .preview, body: .bytes(page))
        case .text: return PageReply(type: "text/plain; charset=utf-8", policy: .preview, body: .bytes(preview.content))
        case .image:
            return PageReply(
                type: DownloadName.mediaType(of: preview.contentType), policy: .data, body: .bytes(preview.content))
        case .pdf: return file(preview, type: "application/pdf", policy: .document)
        case .richText where isFramed:
            // No browser displays rich text, so the frame shows its plain text.
            let page = await onBlockingWork {
                let text = RichText.text(of: preview.content)
                return text.isEmpty
                    ? Array(AttributePreview(item.record, query: query).html.utf8) : TextPage.html(text, query: query)
            }
            return PageReply(type: html, policy: .preview, body: .bytes(page))
        case .richText: return file(preview, type: "application/rtf", policy: .data)
        }
    }

    /// Returns the content of a preview as a named file, for the browser's viewer or as a download.
    private static func file(_ preview: Preview, type: String, policy: PagePolicy) -> PageReply {
        var reply = PageReply(type: type, policy: policy, body: .bytes(preview.content))
        reply.headers["Content-Disposition"] = DownloadName.disposition(
            DownloadName.suggested(title: preview.title, type: preview.contentType), isShown: policy == .document)
        return reply
    }

    private static let html = "text/html; charset=utf-8"

    /// The presentation of a preview in the page.
    private enum Kind: String, Encodable {
        case html, text, image, pdf, richText

        init(_ type: String) {
            self =
                switch type {
                case UTType.html.identifier: .html
                case UTType.png.identifier, UTType.jpeg.identifier: .image
                case UTType.pdf.identifier: .pdf
                case UTType.rtf.identifier: .richText
                default: .text
                }
        }
    }

    private struct Report: Encodable {
        var kind: Kind
        var title: String
        var type: String?
        var bundle: String
        var source: String
        /// The reason why the extension's rendering is missing or not shown here.
        var problem: String?
        var size: Size?
        var removed: String?
        var removals: [Removal]
        var content: String
        var frame: String
        /// The size of the content, in bytes.
        var length: Int
        var offers: [Offer]

        struct Size: Encodable {
            var width: Double
            var height: Double
        }

        init(_ preview: Preview, of item: StoredItem, query: String, key: Int) {
            kind = Kind(preview.contentType)
            title = DisplayText.line(preview.title, limit: 300)
            type = item.contentType.map { DisplayText.line(UTType($0)?.kindName ?? $0, limit: 200) }
            bundle = DisplayText.line(item.scope.bundle, limit: 200)
            source = preview.source.rawValue
            problem = preview.problem.map { DisplayText.safe(String($0.prefix(1000))) }
            if kind == .richText {
                problem =
                    "The app renders this as rich text; browsers show only the words. Save it to see the formatting."
            }
            size = preview.size.map { Size(width: $0.width, height: $0.height) }
            removed = Removal.summary(of: preview.removals)
            removals = preview.removals
            content = "preview/\(item.number)/content?v=\(key)"
            frame = "preview/\(item.number)/frame?v=\(key)"
            length = preview.content.count
            // A type may be promised in several forms, of which the first serves every request.
            var types: [String] = []
            for one in item.record.promisedRepresentations where types.count < 24 && !types.contains(one.type) {
                types.append(one.type)
            }
            offers = types.map { Offer($0, of: item) }
            // Adds a download for types that the page cannot display.
            if kind == .pdf || kind == .richText {
                offers.append(Offer(preview: preview.contentType, of: item, url: content))
            }
        }
    }
}
