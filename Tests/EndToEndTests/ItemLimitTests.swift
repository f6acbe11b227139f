// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import Testing

/// Items that exceed a limit, donated by a script.
@Suite("Limits of an item for donors", .timeLimit(.minutes(10)))
struct ItemLimitTests {
    private static func line(exceeding limit: ItemLimit) -> String {
        let long = String(repeating: "x", count: limit.maximum + 1)
        func attributes(_ text: String) -> String { #"{"uniqueIdentifier": "too much", "attributes": {\#(text)}}"# }
        func list(_ element: String, _ count: Int) -> String {
            "[" + Array(repeating: element, count: count).joined(separator: ", ") + "]"
        }
        return switch limit {
        case .recordBytes: attributes(#""textContent": "\#(long)""#)
        case .identifierBytes: #"{"uniqueIdentifier": "\#(long)"}"#
        case .domainBytes: #"{"uniqueIdentifier": "too much", "domainIdentifier": "\#(long)"}"#
        case .attributeNameBytes: attributes(#""\#(long)": 1"#)
        case .attributes: attributes((0...limit.maximum).map { #""a\#($0)": 1"# }.joined(separator: ", "))
        case .elements: attributes(#""keywords": \#(list("1", limit.maximum + 1))"#)
        case .values: attributes(#""com_example_table": \#(list(list("1", 60_000), 5))"#)
        case .depth: attributes(#""com_example_table": [[[[[[1]]]]]]"#)
        }
    }

    @Test("Each limit is named with its line, and the other lines are accepted", arguments: ItemLimit.allCases)
    func named(limit: ItemLimit) throws {
        let command = Command(harness: try Harness())
        let lines = [
            #"{"uniqueIdentifier": "before"}"#, Self.line(exceeding: limit), #"{"uniqueIdentifier": "after"}"#,
        ]
        let input = command.harness.folder + "/input.jsonl"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: input))
        let (status, output) = try command("donate", "--bundle", "org.example.app", input)
        #expect(status == 1, "\(output)")
        #expect(output.contains("2 items accepted, 1 refused."), "\(output)")
        let refusal = output.split(separator: "\n").first { $0.hasPrefix("Line 2: ") }
        #expect(refusal?.hasSuffix("the limit is \(limit.maximum).") == true, "\(output)")
        #expect(try command("show", "after").status == 0)
    }
}
