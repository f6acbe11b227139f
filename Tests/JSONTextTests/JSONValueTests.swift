// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import JSONText

@Suite("JSON")
struct JSONValueTests {
    private func read(_ text: String, depth: Int = 4) throws(JSONProblem) -> JSONValue {
        try JSONValue(reading: Array(text.utf8)[...], maximumDepth: depth)
    }

    @Test(
        "Numbers are read by JSON's grammar, whole ones exactly",
        arguments: [
            ("0", JSONValue.integer(0)), ("-12", .integer(-12)),
            ("9007199254740993", .integer(9_007_199_254_740_993)),
            ("1.5", .number(1.5)), ("2E+2", .number(200)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ])
    func numbers(text: String, value: JSONValue) throws { #expect(try read(text) == value) }

    @Test(
        "Invalid JSON is rejected with the reason",
        arguments: [
            ("01", "text after the value at byte 2"), ("1.", "no valid number"), ("-", "no valid number"),
            ("1e", "no valid number"),
            ("1e999", "out of range at byte 6"), (#"{"a": 1, "a": 2}"#, "the key “a” twice at byte 13"),
            (#"{"a": 1} x"#, "text after the value"),
            ("[[[[[1]]]]]", "deeper than 4 levels at byte 5"),
            ("\u{FEFF}1", "byte order mark"), ("\"\\ud800\"", "unpaired surrogate \\ud800"),
            (#""a\udc00""#, #"unpaired surrogate \udc00"#), (#""\ud800A""#, "unpaired surrogate"),
            (#"{"\udbff": 1}"#, "unpaired surrogate"), ("", "is incomplete"),
        ])
    func refused(text: String, cause: String) {
        let problem = #expect(throws: JSONProblem.self) { try read(text) }
        #expect(problem?.text.contains(cause) == true, "\(problem?.text ?? "")")
    }

    @Test("A text may have several lines, and an object is found by its keys")
    func members() throws {
        let value = try read("{\n  \"gates\": {\"hot\": true},\r\n\t\"slice.full\": 30\n}\n")
        #expect(
            value.members == ["gates": .object([.init(key: "hot", value: .bool(true))]), "slice.full": .integer(30)])
        #expect(value.json == #"{"gates":{"hot":true},"slice.full":30}"#)
    }
}
