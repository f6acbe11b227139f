// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func attributeSets(title: String) -> [CSSearchableItemAttributeSet] {
    let types: [UTType] = [.text, .url, .content, .data, .item, .contact, UTType.image]
    var sets = types.map { CSSearchableItemAttributeSet(contentType: $0) }
    sets.append(CSSearchableItemAttributeSet(contentType: .text))
    sets.append(CSSearchableItemAttributeSet(contentType: UTType.item))
    sets.forEach { $0.title = title }
    return sets
}
