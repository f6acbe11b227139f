// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func namedTypes() -> [CSSearchableItemAttributeSet] {
    let entity = CSSearchableItemAttributeSet(itemContentType: "Team")
    let identifier = CSSearchableItemAttributeSet(itemContentType: UTType.plainText.identifier)
    let late = CSSearchableItemAttributeSet()
    late.contentType = "any words"
    return [entity, identifier, late]
}
