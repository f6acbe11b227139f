// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import Yams

@testable import FileReading
@testable import JournalNotes

/// Compares the values read from random front matter with the values that Yams itself reads.
@Suite("Front matter, compared with a YAML library")
struct YAMLOracleTests {
    /// Tests 1,000 documents, or 10,000 with `SEARCHLIGHT_JOURNAL_SEEDS=10000`.
    @Test func sameValues() throws {
        let count = max(1_000, Generated.seeds)
        var compared = 0
        for seed in 0..<count {
            var source = YAMLSource(seed: seed)
            let yaml = source.document()
            let text = "---\n" + yaml + "---\nbody"
            guard let oracle = try? Yams.load(yaml: yaml) as? [AnyHashable: Any] else {
                // The generator does not aim for this, but no note may be lost.
                #expect(FrontMatter.split(text).body.hasSuffix("body"), "seed \(seed)")
                continue
            }
            compared += 1
            let (front, body) = FrontMatter.split(text)
            #expect(body == "body", "seed \(seed)\n\(yaml)")
            var expected: [String: [String]] = [:]
            Self.flatten(oracle, key: nil, into: &expected)
            var found: [String: [String]] = [:]
            for entry in front?.entries ?? [] { found[entry.key] = entry.values.map(Self.described).sorted() }
            #expect(found == expected.mapValues { $0.sorted() }, "seed \(seed)\n\(yaml)")
        }
        #expect(compared >= count * 19 / 20, "\(compared) of \(count)")
    }

    private static func described(_ value: FrontMatterValue) -> String {
        switch value {
        case .text(let text): described(text: text)
        case .integer(let number, _): "integer \(number)"
        case .real(let number, _): "real \(number)"
        case .flag(let flag, _): "flag \(flag)"
        }
    }

    /// Yams converts text that looks like a date; in a property, the key decides.
    private static func described(text: String) -> String {
        guard let date = Date.construct(from: .init(text)) else { return "text " + text }
        return "date \(date.timeIntervalSince1970)"
    }

    private static func flatten(_ value: Any, key: String?, into values: inout [String: [String]]) {
        func add(_ text: String) { values[key ?? "", default: []].append(text) }
        switch value {
        case let mapping as [AnyHashable: Any]:
            for (name, value) in mapping {
                let path = [key, "\(name)"].compactMap { $0 }.joined(separator: ".")
                // A name that represents itself, as in a set.
                if let key, value is NSNull {
                    flatten(name.base, key: key, into: &values)
                } else {
                    flatten(value, key: path, into: &values)
                }
            }
        case let list as [Any]: for element in list { flatten(element, key: key, into: &values) }
        case is NSNull: break
        case let flag as Bool: add("flag \(flag)")
        case let number as Int: add("integer \(number)")
        case let number as Double: add("real \(number)")
        case let date as Date: add("date \(date.timeIntervalSince1970)")
        case let text as String: if !text.allSatisfy(\.isWhitespace) { add(described(text: text)) }
        default: add("\(value)")
        }
    }
}

/// Generates YAML as people and programs write it, in all styles.
private struct YAMLSource {
    var random: SplitMix64
    private var keys: Set<String> = []

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    private mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &random)! }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func document() -> String {
        var text = ""
        keys = []
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let key = newKey()
            if chance(10) { text += "# a comment\n" }
            text += entry(key, indentation: "", depth: 0)
            if chance(5) { text += "\n" }
        }
        return text
    }

    /// Not a key that YAML reads as another type, because Yams spells such keys in its own way.
    private mutating func newKey() -> String {
        let words = [
            "title", "tags", "Author", "due date", "größe", "read?", "a/b", "weight (kg)", "日本", "x_y", "v1", "emoji 🎉",
            "_hidden",
        ]
        while true {
            let key = pick(words) + (chance(60) ? "" : "\(Int.random(in: 0..<1000, using: &random))")
            if keys.insert(key).inserted { return key }
        }
    }

    private mutating func entry(_ key: String, indentation: String, depth: Int) -> String {
        let name = chance(10) ? "\"\(key)\"" : key
        let head = indentation + name + ":"
        let inner = indentation + "  "
        switch Int.random(in: 0..<(depth < 3 ? 10 : 6), using: &random) {
        case 0: return head + "\n"
        case 1: return head + " " + flow(depth: depth) + "\n"
        case 2:
            return head + pick([" |", " |-", " >", " >-", " |+"]) + "\n" + inner + words() + "\n" + inner + words()
                + "\n"
        case 3...6: return head + " " + scalar() + (chance(10) ? " # note" : "") + "\n"
        case 7:
            let dash = chance(50) ? indentation : inner
            return head + "\n"
                + (0..<Int.random(in: 1...4, using: &random)).map { _ in dash + "- " + scalar() + "\n" }.joined()
        case 8:
            let outer = keys
            keys = []
            defer { keys = outer }
            return head + "\n"
                + (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    entry(newKey(), indentation: inner, depth: depth + 1)
                }.joined()
        default: return head + "\n" + inner + words() + "\n" + inner + words() + "\n"
        }
    }

    private mutating func flow(depth: Int) -> String {
        let separator = pick([", ", ",", ",\n    "])
        if chance(70) || depth > 2 {
            return "["
                + (0..<Int.random(in: 0...4, using: &random)).map { _ in flowScalar() }.joined(separator: separator)
                + "]"
        }
        return "{"
            + (0..<Int.random(in: 1...3, using: &random)).map { "n\($0): " + flowScalar() }.joined(separator: separator)
            + "}"
    }

    private mutating func words() -> String {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            pick(["sea", "Wolke", "ёлка", "日", "a-b", "it's", "e.g.", "10%", "x=y"])
        }
        .joined(separator: " ")
    }

    private mutating func flowScalar() -> String {
        chance(60) ? pick(["sea", "a b", "12", "1.5", "true", "~", "2024-05-01", "x-y"]) : quoted()
    }

    private mutating func quoted() -> String {
        let body = words()
        if chance(50) { return "'" + body.replacing("'", with: "''") + "'" }
        return "\"" + body
            + pick(["", "\\n", "\\t", "\\\"", "\\x41", "\\u00e9", "\\U0001F600", "\\\\", "\\/", "\\_", ", [b]: c # d"])
            + "\""
    }

    private mutating func scalar() -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: quoted()
        case 1: words()
        default:
            pick([
                "0", "7", "-12", "+3", "0x1F", "0o17", "017", "0b101", "1_000", "1.5", "-.5", "6.02e23", ".inf",
                "-.INF", "12:30:45", "true",
                "False", "yes", "No", "on", "OFF", "y", "n", "null", "~", "Null", "", "2024-05-01",
                "2001-12-14t21:59:43.10-05:00",
                "2001-12-14 21:59:43.10 -5", "2024-5-1", "0001-01-01", "1.2.3", "0.0.0.0", "=", "<<", "1e3", "09",
                "1:2", "!!str 12", "!!int 12",
                "99999999999999999999", "- x".replacing("- ", with: "-"), "a:b", "http://example.org/#a",
                "user@example.org",
            ])
        }
    }
}
