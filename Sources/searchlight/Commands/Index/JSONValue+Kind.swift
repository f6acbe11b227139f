// SPDX-License-Identifier: Apache-2.0
import JSONText

extension JSONValue {
    /// The name of the value's kind, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .integer, .number: "a number"
        case .text: "a text"
        case .list: "an array"
        case .object: "an object"
        }
    }
}

/// The reason why a donation line was rejected.
struct LineRefusal: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
