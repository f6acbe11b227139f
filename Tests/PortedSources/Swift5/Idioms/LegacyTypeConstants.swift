// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

enum LegacyTypes {
    static var text: CSSearchableItemAttributeSet {
        CSSearchableItemAttributeSet(itemContentType: kUTTypeText as String)
    }
    static var html: CSSearchableItemAttributeSet {
        CSSearchableItemAttributeSet(itemContentType: kUTTypeHTML as String)
    }
    static var folder: CSSearchableItemAttributeSet {
        CSSearchableItemAttributeSet(itemContentType: kUTTypeFolder as String)
    }
}
