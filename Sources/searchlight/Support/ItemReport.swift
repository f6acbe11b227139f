// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import JSONText
import Previews
import SearchIndex

/// An item as JSON.
struct ItemReport: Encodable {
    var number: Int64
    var bundle: String
    var index: String?
    var uniqueIdentifier: String
    var domainIdentifier: String?
    /// `nil` for what is no time.
    var donated: String?
    /// `nil` for never.
    var expires: String?
    var attributes: [String: JSONValue]
    /// The traits of attributes that have others than usual; `nil` if none has.
    var customKeys: [String: [String: Bool]]?

    init(_ item: StoredItem) {
        number = item.number
        bundle = item.scope.bundle
        index = item.scope.index
        uniqueIdentifier = item.record.uniqueIdentifier
        domainIdentifier = item.record.domainIdentifier
        donated = DisplayText.moment(item.donated)
        expires = item.expires.map { DisplayText.moment($0) ?? "unknown" }
        attributes = item.record.attributes.mapValues(JSONValue.init)
        let traits = item.record.traits
        customKeys = traits.isEmpty ? nil : traits.mapValues(\.flags)
    }
}
