// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Previews
import SearchIndex
import UniformTypeIdentifiers

/// Prepares previews for the window.
struct PreviewMaker: Sendable {
    /// The search text, whose words are highlighted.
    let query: String

    /// The maximum length of a displayed text, in characters.
    private static let maximumCharacters = 200_000

    /// Prepares a preview on a thread that may block.
    ///
    /// - Parameter picture: The encoded picture to show instead of a PDF.
    func shown(_ preview: Preview, of item: StoredItem, picture: [UInt8]? = nil) async -> ShownPreview {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(returning: make(preview, item, picture))
            }
        }
    }

    private func make(_ preview: Preview, _ item: StoredItem, _ picture: [UInt8]?) -> ShownPreview {
        var notes: [String] = []
        if let problem = preview.problem { notes.append(DisplayText.line(problem, limit: 300)) }
        if let removed = Removal.summary(of: preview.removals) { notes.append("Not shown for safety: \(removed).") }
        let content: ShownPreview.Content
        switch preview.contentType {
        case UTType.html.identifier: content = page(preview.content)
        case UTType.png.identifier, UTType.jpeg.identifier: content = .picture(preview.content)
        case UTType.pdf.identifier:
            notes.append("The app renders this item as PDF. Open it to see its pages.")
            content = picture.map(ShownPreview.Content.picture) ?? attributes(of: item)
        case UTType.rtf.identifier: content = text(RichText.text(of: preview.content))
        default: content = text(String(decoding: preview.content, as: UTF8.self))
        }
        return ShownPreview(
            title: DisplayText.line(preview.title, limit: 300), content: content,
            note: notes.isEmpty ? nil : notes.joined(separator: " "))
    }

    private func attributes(of item: StoredItem) -> ShownPreview.Content {
        let thumbnail = item.record.thumbnailReference.flatMap { try? Thumbnail.read($0) }
        return page(Array(AttributePreview(item.record, query: query, thumbnail: thumbnail).html.utf8))
    }

    private func page(_ bytes: [UInt8]) -> ShownPreview.Content {
        .page(FramedPage.bytes(of: bytes), words: PageText(bytes, width: nil).pieces)
    }

    private func text(_ text: String) -> ShownPreview.Content {
        let safe = DisplayText.safe(String(text.prefix(Self.maximumCharacters)))
        return .text(
            Highlighter(query: query).pieces(of: safe).map {
                TextPiece(String($0.text), $0.isHighlight ? .found : .plain)
            })
    }
}
