// SPDX-License-Identifier: Apache-2.0

/// An object to be printed as JSON. Fields whose value is `nil` are omitted.
///
/// ```swift
/// try Output.printJSON(["bundle": bundle, "reason": reason] as JSONObject)
/// ```
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var fields: [(name: String, value: (any Encodable)?)]

    init(dictionaryLiteral fields: (String, (any Encodable)?)...) { self.fields = fields.map { ($0.0, $0.1) } }

    /// Returns the object with further fields appended.
    func adding(_ further: [(String, any Encodable)]) -> JSONObject {
        var object = self
        object.fields += further.map { ($0.0, $0.1) }
        return object
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for case (let name, let value?) in fields { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}
