// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
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

/// An attribute's value as JSON: dates as ISO 8601 text (“unknown” for what is no date), data as base64.
enum JSONValue: Encodable {
    case null
    case text(String)
    case integer(Int64)
    case number(Double)
    case truth(Bool)
    case list([JSONValue])
    case object([String: JSONValue])

    init(_ value: AttributeValue) {
        switch value {
        case .null: self = .null
        case .string(let text), .url(let text): self = .text(text)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .boolean(let truth): self = .truth(truth)
        case .date(let moment): self = .text(DisplayText.moment(moment) ?? "unknown")
        case .data(let bytes): self = .text(Data(bytes).base64EncodedString())
        case .localizedString(let texts): self = .object(texts.mapValues { .text($0) })
        case .array(let values): self = .list(values.map(JSONValue.init))
        case .dictionary(let values): self = .object(values.mapValues(JSONValue.init))
        case .person(let person):
            self = .object([
                "displayName": person.displayName.map { .text($0) } ?? .null,
                "handles": .list(person.handles.map { .text($0) }),
                "handleIdentifier": .text(person.handleIdentifier),
                "contactIdentifier": person.contactIdentifier.map { .text($0) } ?? .null,
            ])
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .truth(let truth): try container.encode(truth)
        case .list(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }

    /// The value for a person to read, on one line.
    var line: String {
        switch self {
        case .null: "none"
        case .text(let text): DisplayText.line(text)
        case .integer(let number): "\(number)"
        case .number(let number): Self.plain(number)
        case .truth(let truth): truth ? "yes" : "no"
        case .list(let values): values.map(\.line).joined(separator: ", ")
        case .object(let values):
            values.sorted { $0.key < $1.key }.map { "\(DisplayText.line($0.key)): \($0.value.line)" }
                .joined(separator: "; ")
        }
    }
}
