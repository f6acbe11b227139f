// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import BusTransport

@Suite("Swift values as D-Bus values")
struct BusCodingTests {
    private struct Sample: Codable, Hashable {
        enum Kind: Codable, Hashable {
            case plain
            case named(String, count: Int?)
        }
        var text: String
        var bytes: [UInt8]
        var numbers: [Int64]
        var texts: [String]
        var kinds: [Kind]
        var table: [String: Double]
        var absent: String?
        var holes: [Int?]
        var unsigned: UInt64
        var nested: [[String]]
    }

    private func sample(_ text: String) -> Sample {
        Sample(
            text: text, bytes: [0, 255], numbers: [.min, .max], texts: [text, ""],
            kinds: [.plain, .named(text, count: nil), .named("", count: 3)],
            table: ["key " + text: .infinity, "": -0.0, "\\": 1],
            absent: nil, holes: [1, nil, 3], unsigned: .max, nested: [[], [text]])
    }

    @Test(
        "Values are unchanged after encoding and decoding, even through a message",
        arguments: ["", "plain", "日本\u{301}", "a\0b", "\u{FFFE}", "back\\slash;", "\u{10FFFF}x"])
    func roundTrip(text: String) async throws {
        let value = sample(text)
        let encoded = try BusEncoder.encode(value)
        #expect(try BusDecoder.decode(Sample.self, from: encoded) == value)
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        let answer = try await pair.host.call(BusConnectionTests.echo, [encoded])
        #expect(try BusDecoder.decode(Sample.self, from: try #require(answer.first)) == value)
    }

    @Test("Bytes and texts are one array each, and missing values are left out")
    func forms() throws {
        guard case .dictionary(let entries) = try BusEncoder.encode(sample("x")) else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries["bytes"]?.signature == "ay" && entries["texts"]?.signature == "as")
        #expect(entries["kinds"]?.signature == "aa{sv}" && entries["numbers"]?.signature == "av")
        #expect(entries["absent"] == nil && entries["unsigned"]?.signature == "t")
    }

    @Test("A value that does not fit is an error with its position")
    func positions() throws {
        func error(_ value: BusValue) -> BusCodingError? {
            #expect(throws: BusCodingError.self) { try BusDecoder.decode([String: [Int8]].self, from: value) }
        }
        #expect(error(.strings([]))?.path == "")
        #expect(error(.dictionary(["a": .unsigned(1)]))?.path == "a")
        #expect(error(.dictionary(["a": .array([.signed(1), .signed(128)])]))?.path == "a.1")
        #expect(error(.dictionary(["a": .array([.string("x")])]))?.path == "a.0")
    }

    @Test("A text that is not UTF-8 and an unreadable key are rejected")
    func texts() {
        #expect(throws: BusCodingError.self) { try BusDecoder.decode([String].self, from: .array([.bytes([0xFF])])) }
        #expect(throws: Never.self) {
            let table = try BusDecoder.decode([String: Int].self, from: .dictionary(["\\zz": .signed(1)]))
            #expect(table.isEmpty)
        }
    }

    @Test("Too many entries and too deep values are errors")
    func limits() {
        let many = #expect(throws: BusCodingError.self) {
            try BusEncoder.encode([Int](repeating: 1, count: BusValue.maximumEntries + 1))
        }
        #expect(many?.isSize == true)
        struct Deep: Encodable {
            let depth: Int
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                if depth > 0 { try list.encode(Deep(depth: depth - 1)) }
            }
        }
        #expect(throws: Never.self) { try BusEncoder.encode(Deep(depth: BusValue.maximumDepth - 1)) }
        let deep = #expect(throws: BusCodingError.self) { try BusEncoder.encode(Deep(depth: BusValue.maximumDepth)) }
        #expect(deep?.isSize == false)
    }
}
