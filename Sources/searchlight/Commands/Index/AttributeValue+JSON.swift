// SPDX-License-Identifier: Apache-2.0
import CommandSupport
import Foundation
import ItemRecord
import JSONText
import MetadataQuery
import Previews

extension JSONValue {
    /// The type's name in messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer, .number: "a number"
        case .text: "a text"
        case .list: "an array"
        case .object: "an object"
        }
    }
}

/// The reason why a line of a donation is rejected.
struct LineRefusal: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

extension AttributeValue {
    /// The attributes whose values are dates.
    private static let dates: Set<String> = [
        "addedDate", "completionDate", "contentCreationDate", "contentModificationDate", "downloadedDate", "dueDate",
        "endDate", "gpsDateStamp", "importantDates", "lastUsedDate", "metadataModificationDate", "recordingDate",
        "startDate", "timestamp",
    ]
    private static let urls: Set<String> = ["contentURL", "darkThumbnailURL", "thumbnailURL", "url"]
    private static let data: Set<String> = ["htmlContentData", "thumbnailData"]

    /// Converts a JSON value to the value of an attribute.
    init(_ value: JSONValue, of attribute: String) throws(LineRefusal) {
        let name = AttributeNames.propertyName(for: attribute)
        switch value {
        case .null: self = .null
        case .bool, .integer, .number:
            guard Self.dates.contains(name) else {
                self.init(plain: value)
                return
            }
            guard let seconds = value.number, DisplayText.datableMoments.contains(seconds) else {
                throw LineRefusal(
                    """
                    \(attribute) is no date: \(value.shown) is neither ISO 8601 nor seconds since 2001 in the years 1 to 9999
                    """)
            }
            self = .date(seconds)
        case .text(let text) where Self.dates.contains(name):
            guard let moment = ISOMoment(text)?.instant else {
                throw LineRefusal("\(attribute) is no date: \(text.prefix(80).debugDescription) is not ISO 8601")
            }
            self = .date(moment)
        case .text(let text) where Self.urls.contains(name):
            guard let url = URL(string: text), url.scheme != nil else {
                throw LineRefusal("\(attribute) is no absolute URL: \(text.prefix(80).debugDescription)")
            }
            self = .url(text)
        case .text(let text) where Self.data.contains(name):
            guard let data = Data(base64Encoded: text) else { throw LineRefusal("\(attribute) is not base64") }
            self = .data(Array(data))
        case .text(let text): self = .string(text)
        case .list(let values):
            var elements: [AttributeValue] = []
            elements.reserveCapacity(values.count)
            for value in values { elements.append(try AttributeValue(value, of: attribute)) }
            self = .array(elements)
        case .object: throw LineRefusal("the value of \(attribute) is an object, which no attribute takes here")
        }
    }

    /// A Boolean value or a number of an attribute that is not a date.
    private init(plain value: JSONValue) {
        switch value {
        case .bool(let truth): self = .boolean(truth)
        case .integer(let number): self = .integer(number)
        // A whole number in the form 3.0 or 1e3 becomes an integer.
        case .number(let number): self = Int64(exactly: number).map { .integer($0) } ?? .double(number)
        default: self = .null
        }
    }
}
