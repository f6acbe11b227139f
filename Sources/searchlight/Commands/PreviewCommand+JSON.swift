// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import SearchIndex

extension JSONObject {
    /// A preview as JSON. Its keys are stable.
    init(_ preview: Preview, of item: StoredItem, query: String?) {
        let text = String(validating: preview.content, as: UTF8.self)
        self = [
            "title": preview.title, "contentType": preview.contentType, "source": preview.source.rawValue,
            "problem": preview.problem, "width": preview.size?.width, "height": preview.size?.height,
            // The parts that were removed from the rendering.
            "removed": preview.removals, "text": text,
            "base64": text == nil ? Data(preview.content).base64EncodedString() : nil,
            "attributes": preview.source == .attributes ? JSONObject(attributesOf: item, query) : nil,
        ]
    }

    /// The text of the item's attributes, for a preview that is generated from them.
    private init(attributesOf item: StoredItem, _ query: String?) {
        let preview = AttributePreview(item.record, query: query)
        var seen: Set<String> = []
        // The matched parts of the text.
        let found = [preview.title, preview.description, preview.content].compactMap(\.self)
            .flatMap { Highlighter(query: query).pieces(of: $0) }
            .filter(\.isHighlight).map { String($0.text) }.filter { seen.insert($0).inserted }
        var (picture, problem): (JSONObject?, String?)
        if let reference = item.record.thumbnailReference {
            do throws(Thumbnail.Problem) {
                let read = try Thumbnail.read(reference)
                picture = [
                    "contentType": read.header.type.identifier, "width": read.header.width,
                    "height": read.header.height, "bytes": read.bytes.count,
                ]
            } catch {
                problem = error.description
            }
        }
        self = [
            "facts": preview.facts.map { ["name": $0.name, "value": $0.value] },
            "description": preview.description, "text": preview.content, "found": found, "thumbnail": picture,
            "thumbnailProblem": problem,
        ]
    }
}
