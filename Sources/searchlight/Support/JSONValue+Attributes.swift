// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import JSONText
import Previews

extension JSONValue {
    /// Creates the JSON for an attribute's value: dates become ISO 8601 text (“unknown” if
    /// invalid), and data becomes base64.
    init(_ value: AttributeValue) {
        switch value {
        case .null: self = .null
        case .string(let text), .url(let text): self = .text(text)
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .boolean(let truth): self = .bool(truth)
        case .date(let moment): self = .text(DisplayText.moment(moment) ?? "unknown")
        case .data(let bytes): self = .text(Data(bytes).base64EncodedString())
        case .localizedString(let texts): self.init(texts.mapValues { .text($0) })
        case .array(let values): self = .list(values.map(JSONValue.init))
        case .dictionary(let values): self.init(values.mapValues(JSONValue.init))
        case .person(let person):
            self.init([
                "displayName": person.displayName.map { .text($0) } ?? .null,
                "handles": .list(person.handles.map { .text($0) }),
                "handleIdentifier": .text(person.handleIdentifier),
                "contactIdentifier": person.contactIdentifier.map { .text($0) } ?? .null,
            ])
        }
    }

    private init(_ members: [String: JSONValue]) {
        self = .object(members.sorted { $0.key < $1.key }.map { Field(key: $0.key, value: $0.value) })
    }

    /// The value on one line of text.
    var line: String {
        switch self {
        case .null: "none"
        case .text(let text): DisplayText.line(text)
        case .integer(let number): "\(number)"
        case .number(let number): Self.plain(number)
        case .bool(let truth): truth ? "yes" : "no"
        case .list(let values): values.map(\.line).joined(separator: ", ")
        case .object(let fields):
            fields.map { "\(DisplayText.line($0.key)): \($0.value.line)" }.joined(separator: "; ")
        }
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .bool(let truth): try container.encode(truth)
        case .list(let values): try container.encode(values)
        case .object: try container.encode(members)
        }
    }
}
