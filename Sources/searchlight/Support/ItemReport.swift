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
    /// The time of the donation; `nil` if it is not a valid date.
    var donated: String?
    /// The time of expiry; `nil` if the item never expires.
    var expires: String?
    /// The number of bytes of text that are not indexed.
    var missingTextBytes: Int64
    var attributes: [String: JSONValue]
    /// The traits of attributes that differ from the default; `nil` if there are none.
    var customKeys: [String: [String: Bool]]?

    init(_ item: StoredItem) {
        number = item.number
        bundle = item.scope.bundle
        index = item.scope.index
        uniqueIdentifier = item.record.uniqueIdentifier
        domainIdentifier = item.record.domainIdentifier
        donated = DisplayText.moment(item.donated)
        expires = item.expires.map { DisplayText.moment($0) ?? "unknown" }
        missingTextBytes = item.record.missingTextBytes
        attributes = item.record.attributes.mapValues(JSONValue.init)
        let traits = item.record.traits
        customKeys = traits.isEmpty ? nil : traits.mapValues(\.flags)
    }
}
