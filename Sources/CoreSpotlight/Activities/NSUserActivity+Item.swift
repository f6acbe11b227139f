// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The format in which activities are stored as items in the index.
enum ActivityItem {
    /// The prefix of an item identifier, which precedes the activity's persistent identifier.
    static let identifierPrefix = "com.searchlight.activity:"
    /// The domain of activities that have no domain of their own.
    static let domain = "com.searchlight.activities"
    /// The custom key for the activity type. All activities in the index have it, and no other
    /// items do.
    static let typeKey = "com_searchlight_activity_type"
    static let userInfoKey = "com_searchlight_activity_user_info"
    static let webpageKey = "com_searchlight_activity_webpage"
    static let persistentIdentifierKey = "com_searchlight_activity_persistent_identifier"
    static let targetKey = "com_searchlight_activity_target"

    static func identifier(_ persistentIdentifier: String) -> String { identifierPrefix + persistentIdentifier }

    /// Archives the user info. Values that cannot be archived are omitted.
    static func archive(_ userInfo: [AnyHashable: Any]) -> Data? {
        let kept = NSMutableDictionary()
        for (key, value) in userInfo {
            guard let key = key as? String, let object = object(value) else { continue }
            kept[NSString(string: key)] = object
        }
        guard kept.count > 0 else { return nil }
        return try? NSKeyedArchiver.archivedData(withRootObject: kept, requiringSecureCoding: true)
    }

    static func userInfo(_ archive: Data) -> [AnyHashable: Any]? {
        let classes: [AnyClass] = [
            NSDictionary.self, NSArray.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSNull.self,
        ]
        let root = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: archive)
        return (root as? NSDictionary).map { plain($0) }
    }

    /// Returns a value as an object that can be archived; `nil` for other values.
    private static func object(_ value: Any, depth: Int = 0) -> NSObject? {
        guard depth < 32 else { return nil }
        switch value {
        case let text as String: return NSString(string: text)
        case let number as NSNumber: return number
        case let truth as Bool: return NSNumber(value: truth)
        case let number as Int: return NSNumber(value: number)
        case let number as Double: return NSNumber(value: number)
        case let number as any BinaryInteger: return NSNumber(value: Int64(clamping: number))
        case let number as any BinaryFloatingPoint: return NSNumber(value: Double(number))
        case let date as Date: return NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let data as Data: return NSData(data: data)
        case let url as URL: return NSURL(string: url.absoluteString)
        case is NSNull: return NSNull()
        case let values as [Any]: return NSArray(array: values.compactMap { object($0, depth: depth + 1) })
        case let values as [AnyHashable: Any]:
            let dictionary = NSMutableDictionary()
            for (key, value) in values {
                guard let key = key as? String, let object = object(value, depth: depth + 1) else { continue }
                dictionary[NSString(string: key)] = object
            }
            return dictionary
        case let values as Set<AnyHashable>:
            return NSSet(array: values.compactMap { object($0.base, depth: depth + 1) })
        case let object as NSObject where object is any NSSecureCoding:
            return [NSDate.self, NSData.self, NSURL.self, NSString.self].contains { object.isKind(of: $0) }
                ? object : nil
        default: return nil
        }
    }

    private static func plain(_ dictionary: NSDictionary) -> [AnyHashable: Any] {
        var values: [AnyHashable: Any] = [:]
        for (key, value) in dictionary { if let key = key as? String { values[key] = plain(value) } }
        return values
    }

    private static func plain(_ value: Any) -> Any {
        switch value {
        case let value as NSDictionary: plain(value)
        case let value as NSArray: value.map { plain($0) }
        case let value as NSSet: Set(value.compactMap { plain($0) as? AnyHashable })
        case let value as NSString: value.substring(from: 0)
        case let value as NSDate: Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
        case let value as NSData: Data(referencing: value)
        case let value as NSURL: value.absoluteURL ?? value
        default: value
        }
    }
}

extension NSUserActivity {
    /// The item that makes the activity searchable; `nil` if the activity is not eligible for
    /// search or has no title.
    var searchableItem: CSSearchableItem? {
        let state = current
        let known = state.attributes.map { CSSearchableItemAttributeSet(values: $0.values, traits: $0.traits) }
        let attributes = known ?? CSSearchableItemAttributeSet()
        let title = [state.title, attributes.title, attributes.displayName].lazy.compactMap(\.self).first {
            !$0.isEmpty
        }
        guard state.isEligibleForSearch, let title else { return nil }
        // A title in several languages is stored with all its languages.
        if attributes.title != title { attributes.title = title }
        let keywords = state.keywords.subtracting(attributes.keywords ?? []).sorted()
        if !keywords.isEmpty { attributes.keywords = (attributes.keywords ?? []) + keywords }
        let webpage = state.webpageURL.flatMap { ["http", "https"].contains($0.scheme?.lowercased()) ? $0 : nil }
        if attributes.url == nil, let webpage { attributes.url = webpage }
        attributes.lastUsedDate = Date()
        keep(activityType, as: ActivityItem.typeKey, in: attributes)
        keep(webpage?.absoluteString, as: ActivityItem.webpageKey, in: attributes)
        keep(state.persistentIdentifier, as: ActivityItem.persistentIdentifierKey, in: attributes)
        keep(state.targetContentIdentifier, as: ActivityItem.targetKey, in: attributes)
        if let archive = ActivityItem.archive(state.keptUserInfo) {
            attributes.values[ActivityItem.userInfoKey] = .data([UInt8](archive))
            attributes.traits[ActivityItem.userInfoKey] = []
        }
        let item = CSSearchableItem(
            uniqueIdentifier: ActivityItem.identifier(state.persistentIdentifier ?? ownIdentifier),
            domainIdentifier: attributes.domainIdentifier ?? ActivityItem.domain, attributeSet: attributes)
        if let moment = state.expirationDate { item.expirationDate = moment }
        return item
    }

    private func keep(_ text: String?, as key: String, in attributes: CSSearchableItemAttributeSet) {
        guard let text else { return }
        attributes.values[key] = .string(text)
    }

    /// Creates the activity that an item was donated for; `nil` if it was not donated for an
    /// activity. An addition for Linux.
    ///
    /// An app that receives a request to open one of its items can continue with this activity.
    ///
    /// - Parameter item: An item with all its attributes.
    public convenience init?(searchableItem item: CSSearchableItem) {
        func text(_ key: String) -> String? { item.attributeSet.values[key]?.text }
        guard let type = text(ActivityItem.typeKey) else { return nil }
        self.init(activityType: type)
        title = item.attributeSet.title
        persistentIdentifier = text(ActivityItem.persistentIdentifierKey)
        targetContentIdentifier = text(ActivityItem.targetKey)
        webpageURL = text(ActivityItem.webpageKey).flatMap { URL(string: $0) }
        if case .data(let archive) = item.attributeSet.values[ActivityItem.userInfoKey] {
            userInfo = ActivityItem.userInfo(Data(archive))
            requiredUserInfoKeys = userInfo.map { Set($0.keys.compactMap { $0 as? String }) }
        }
        isEligibleForSearch = true
    }
}

extension NSUserActivity.State {
    /// The part of the user info that is stored with the item.
    var keptUserInfo: [AnyHashable: Any] {
        guard let keys = requiredUserInfoKeys else { return webpageURL == nil ? userInfo ?? [:] : [:] }
        return (userInfo ?? [:]).filter { ($0.key as? String).map(keys.contains) ?? false }
    }
}
