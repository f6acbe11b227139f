// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

extension CSSearchableItemAttributeSet {
    private static let moodKey = CSCustomAttributeKey(
        keyName: "com_example_mood", searchable: true, searchableByDefault: true, unique: false, multiValued: false)!

    var mood: String? {
        get { value(forCustomKey: Self.moodKey) as? NSString as String? }
        set { setValue(newValue as NSString?, forCustomKey: Self.moodKey) }
    }

    func mark(count: Int) {
        guard let key = CSCustomAttributeKey(keyName: "com_example_count") else { return }
        setValue(NSNumber(value: count), forCustomKey: key)
    }
}
