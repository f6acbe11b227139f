// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

@available(iOS 18, macOS 15, *)
final class ModernSearch {
    init() { CSUserQuery.prepare() }

    @available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
    func watch(_ item: CSSearchableItem) {
        item.updateListenerOptions = [.summarization, .priority]
        item.isUpdate = true
    }

    func prepare() { CSUserQuery.prepareProtectionClasses([.complete]) }
}

@available(iOS, introduced: 9.0, deprecated: 14.0)
func oldAttributes() -> CSSearchableItemAttributeSet { CSSearchableItemAttributeSet(itemContentType: "public.text") }
