// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import SearchIndex

/// A preview as JSON. Its keys stay.
struct PreviewReport: Encodable {
    var title: String
    var contentType: String
    var source: String
    var problem: String?
    var width: Double?
    var height: Double?
    /// What was taken out of what the extension rendered.
    var removed: [Removal]
    var text: String?
    var base64: String?
    /// What the item's attributes say, if it is shown by them.
    var attributes: Attributes?

    struct Attributes: Encodable {
        var facts: [Fact]
        var description: String?
        var text: String?
        /// The parts of the text that were searched for.
        var found: [String]
        var thumbnail: Picture?
        var thumbnailProblem: String?
    }

    struct Fact: Encodable {
        var name: String
        var value: String
    }

    struct Picture: Encodable {
        var contentType: String
        var width: Int
        var height: Int
        var bytes: Int
    }

    init(_ preview: Preview, of item: StoredItem, query: String?) {
        title = preview.title
        contentType = preview.contentType
        source = preview.source.rawValue
        problem = preview.problem
        (width, height) = (preview.size?.width, preview.size?.height)
        removed = preview.removals
        if let text = String(validating: preview.content, as: UTF8.self) {
            self.text = text
        } else {
            base64 = Data(preview.content).base64EncodedString()
        }
        if preview.source == .attributes { attributes = Attributes(item, query) }
    }
}

extension PreviewReport.Attributes {
    init(_ item: StoredItem, _ query: String?) {
        let preview = AttributePreview(item.record, query: query)
        facts = preview.facts.map { PreviewReport.Fact(name: $0.name, value: $0.value) }
        description = preview.description
        text = preview.content
        var seen: Set<String> = []
        found = [preview.title, preview.description, preview.content].compactMap(\.self)
            .flatMap { Highlighter(query: query).pieces(of: $0) }
            .filter(\.isHighlight).map { String($0.text) }.filter { seen.insert($0).inserted }
        guard let reference = item.record.thumbnailReference else { return }
        do throws(Thumbnail.Problem) {
            let read = try Thumbnail.read(reference)
            thumbnail = PreviewReport.Picture(
                contentType: read.header.type.identifier, width: read.header.width, height: read.header.height,
                bytes: read.bytes.count)
        } catch {
            thumbnailProblem = error.description
        }
    }
}
