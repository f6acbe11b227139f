// SPDX-License-Identifier: Apache-2.0
import JSONText

/// A dictionary in a manifest, and its path. Its accessors name the key in each error.
struct BindingTable {
    let path: [String]
    private let values: [String: JSONValue]

    /// - Parameter known: The keys that the dictionary may contain.
    init(_ value: JSONValue, at path: [String], known: [String]) throws(DatabaseBindingError) {
        self.path = path
        guard let values = value.members else {
            throw DatabaseBindingError(path, "It is \(value.shown)", "Give a dictionary")
        }
        self.values = values
        for key in values.keys.sorted() where !known.contains(key) {
            throw DatabaseBindingError(
                path + [String(key.cut)], "The key is unknown",
                "Remove it, or use one of \(known.joined(separator: ", "))",
                misspelt: .init(name: key, known: known))
        }
    }

    subscript(_ key: String) -> JSONValue? { values[key] }

    func error(_ key: String, _ problem: String, _ advice: String) -> DatabaseBindingError {
        DatabaseBindingError(path + [key], problem, advice)
    }

    func optionalText(_ key: String, bytes limit: Int) throws(DatabaseBindingError) -> String? {
        guard let value = values[key] else { return nil }
        guard case .text(let text) = value else { throw error(key, "It is \(value.shown)", "Give a text") }
        return try checked(text, key, bytes: limit)
    }

    func text(_ key: String, bytes limit: Int) throws(DatabaseBindingError) -> String {
        guard let text = try optionalText(key, bytes: limit) else { throw error(key, "It is missing", "Add it") }
        return text
    }

    /// Returns a text, or an array of texts.
    func texts(_ key: String, atMost count: Int, bytes limit: Int) throws(DatabaseBindingError) -> [String] {
        if case .text? = values[key] { return [try text(key, bytes: limit)] }
        var texts: [String] = []
        for value in try list(key, atMost: count) {
            guard case .text(let text) = value else { throw error(key, "It has \(value.shown)", "Use only texts") }
            texts.append(try checked(text, key, bytes: limit))
        }
        return texts
    }

    private func checked(_ text: String, _ key: String, bytes limit: Int) throws(DatabaseBindingError) -> String {
        guard (1...limit).contains(text.utf8.count), !text.utf8.contains(0) else {
            throw error(key, "It has \(text.utf8.count) bytes, or a NUL", "Give a text of 1 to \(limit) bytes")
        }
        return text
    }

    func optionalList(_ key: String, atMost count: Int) throws(DatabaseBindingError) -> [JSONValue] {
        values[key] == nil ? [] : try list(key, atMost: count)
    }

    /// Returns an array with 1 to `count` values.
    func list(_ key: String, atMost count: Int) throws(DatabaseBindingError) -> [JSONValue] {
        guard let value = values[key] else { throw error(key, "It is missing", "Add it") }
        guard case .list(let values) = value, (1...count).contains(values.count) else {
            throw error(key, "It is \(value.shown)", "Give an array of 1 to \(count) values")
        }
        return values
    }
}
