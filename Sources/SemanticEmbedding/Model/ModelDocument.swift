// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The fields of a JSON object from a model file, with type checks.
struct ModelDocument {
    private let members: [String: JSONValue]

    /// The largest nesting depth in a model's files. `tokenizer.json` needs seven levels.
    private static let maximumDepth = 16

    init(reading bytes: ArraySlice<UInt8>) throws(ModelProblem) {
        let value: JSONValue
        do { value = try JSONValue(reading: bytes, maximumDepth: Self.maximumDepth) } catch {
            throw .damaged(error.text)
        }
        try self.init(value, "the file")
    }

    init(_ value: JSONValue, _ name: String) throws(ModelProblem) {
        guard let members = value.members else { throw .damaged("\(name) is \(value.shown) and not an object.") }
        self.members = members
    }

    subscript(_ key: String) -> JSONValue? {
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    /// Returns an integer within bounds.
    func integer(_ key: String, in bounds: ClosedRange<Int>, default fallback: Int? = nil) throws(ModelProblem) -> Int {
        guard let value = self[key] else {
            guard let fallback else { throw .damaged("it has no “\(key)”.") }
            return fallback
        }
        guard case .integer(let number) = value else {
            throw .damaged("“\(key)” is \(value.shown) and not an integer.")
        }
        guard let number = Int(exactly: number), bounds.contains(number) else {
            throw .unsupported(
                "“\(key)” is \(number); supported are \(bounds.lowerBound) to \(bounds.upperBound).")
        }
        return number
    }

    func text(_ key: String) throws(ModelProblem) -> String? {
        guard let value = self[key] else { return nil }
        guard case .text(let text) = value else { throw .damaged("“\(key)” is \(value.shown) and not a text.") }
        return text
    }

    func bool(_ key: String) throws(ModelProblem) -> Bool? {
        guard let value = self[key] else { return nil }
        guard case .bool(let bool) = value else {
            throw .damaged("“\(key)” is \(value.shown) and not true or false.")
        }
        return bool
    }

    func object(_ key: String) throws(ModelProblem) -> ModelDocument? {
        guard let value = self[key] else { return nil }
        return try ModelDocument(value, "“\(key)”")
    }

    func list(_ key: String) throws(ModelProblem) -> [JSONValue] {
        guard let value = self[key] else { return [] }
        guard case .list(let values) = value else { throw .damaged("“\(key)” is \(value.shown) and not a list.") }
        return values
    }
}
