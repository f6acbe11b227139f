// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import JSONText

/// The fields of a line. Each accessor checks the allowed values.
struct TraceFields {
    private let fields: [JSONValue.Field]
    /// The clock for parsing clock times; `nil` for the header.
    var clock: TraceClock?
    /// The prefix for keys in messages: empty, or “conditions.”.
    private let prefix: String

    init(_ fields: [JSONValue.Field], clock: TraceClock?, prefix: String = "") {
        (self.fields, self.clock, self.prefix) = (fields, clock, prefix)
    }

    var isEmpty: Bool { fields.isEmpty }

    subscript(key: String) -> JSONValue? { fields.first { $0.key == key }?.value }

    func has(_ key: String) -> Bool { self[key] != nil }

    /// Rejects unknown keys.
    func allow(_ keys: [String]) throws(JSONProblem) {
        guard let unknown = fields.first(where: { !keys.contains($0.key) }) else { return }
        let allowed = keys.joined(separator: ", ")
        throw JSONProblem("“\(prefix)\(unknown.key.cut)” is unknown here. Use one of \(allowed).")
    }

    func refuse(_ key: String, allowed: String) -> JSONProblem {
        guard let value = self[key] else { return JSONProblem("“\(prefix)\(key)” is missing. Set it to \(allowed).") }
        return JSONProblem("“\(prefix)\(key)” is \(value.shown). Set it to \(allowed).")
    }

    func text(_ key: String, bytes: Int) throws(JSONProblem) -> String? {
        guard let value = self[key] else { return nil }
        guard case .text(let text) = value, text.utf8.count <= bytes else {
            throw refuse(key, allowed: "a text of at most \(bytes) bytes")
        }
        return text
    }

    func bool(_ key: String, orNull: Bool = false) throws(JSONProblem) -> Bool? {
        guard let value = self[key], !orNull || value != .null else { return nil }
        guard case .bool(let bool) = value else { throw refuse(key, allowed: "true or false") }
        return bool
    }

    func number(_ key: String, _ range: ClosedRange<Double>, orNull: Bool = false) throws(JSONProblem) -> Double? {
        guard let value = self[key], !orNull || value != .null else { return nil }
        guard let number = value.number, range.contains(number) else {
            throw refuse(key, allowed: "a number from \(range.lowerBound.plain) to \(range.upperBound.plain)")
        }
        return number
    }

    func count(_ key: String, _ range: ClosedRange<Int>) throws(JSONProblem) -> Int? {
        guard let number = try number(key, Double(range.lowerBound)...Double(range.upperBound)) else { return nil }
        guard let count = Int(exactly: number) else { throw refuse(key, allowed: "a whole number") }
        return count
    }

    func moment(_ key: String, orNull: Bool = false) throws(JSONProblem) -> Double? {
        guard let value = self[key], !orNull || value != .null else { return nil }
        guard case .text(let text) = value, let clock, let moment = clock.moment(text) else {
            throw refuse(key, allowed: Self.times)
        }
        return moment
    }

    /// A description of clock times for messages.
    static let times = #"a clock time counted from midnight of the first day: "9:05", "09:05:30", "26:10" or "-1:30""#
}
