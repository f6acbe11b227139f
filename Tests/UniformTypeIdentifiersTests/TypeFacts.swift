// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The data from which the table was generated, read independently of the generator. The table must
/// agree with the data.
struct TypeFacts: Sendable {
    struct Row: Sendable {
        let identifier: String
        let swiftName: String
        let parents: [String]
        let filenameExtensions: [String]
        let mimeTypes: [String]
        let localizedDescription: String
    }

    let rows: [Row]
    let byIdentifier: [String: Row]

    static let shared = TypeFacts()

    init() {
        let text = try? TypeFacts.text(of: "Scripts/uniform-types/types.csv")
        let lines = (text ?? "").split(whereSeparator: \.isNewline).dropFirst()
        rows = lines.map { line in
            let fields = TypeFacts.fields(line)
            let list = { (text: String) in text.split(separator: ";").map(String.init) }
            return Row(
                identifier: fields[0], swiftName: fields[1], parents: list(fields[2]),
                filenameExtensions: list(fields[3]),
                mimeTypes: list(fields[4]).map { $0.replacingOccurrences(of: "%3B", with: ";").lowercased() },
                localizedDescription: fields[5])
        }
        byIdentifier = Dictionary(rows.map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the text of a file in the package.
    static func text(of path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func fields(_ line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        var previousWasQuote = false
        for character in line {
            if character == "\"" {
                if isQuoted {
                    isQuoted = false
                    previousWasQuote = true
                    continue
                }
                if previousWasQuote { fields[fields.count - 1].append("\"") }
                isQuoted = true
            } else if character == ",", !isQuoted {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
            previousWasQuote = false
        }
        return fields
    }

    /// Returns all supertypes of a type, found by a simple walk that does not use the table's bit
    /// rows.
    func ancestors(of identifier: String) -> Set<String> {
        var found: Set<String> = []
        var waiting = byIdentifier[identifier]?.parents ?? []
        while let next = waiting.popLast() {
            if found.insert(next).inserted { waiting += byIdentifier[next]?.parents ?? [] }
        }
        return found
    }
}
