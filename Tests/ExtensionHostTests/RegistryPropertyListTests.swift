// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Property lists of manifests")
struct RegistryPropertyListTests {
    private func reason(_ body: String) -> String? {
        do throws(PropertyListReader.Problem) {
            _ = try PropertyListReader.read(Array(body.utf8))
            return nil
        } catch {
            return error.reason
        }
    }

    private static func random(_ random: inout SplitMix64, depth: Int = 0) -> Any {
        switch random.below(depth > 4 ? 5 : 7) {
        case 0: return random.text(length: random.below(12))
        case 1: return Int(Int64(bitPattern: random.next()))
        case 2: return Double(random.below(1 << 30)) / 8 + 0.5
        case 3: return random.below(2) == 0
        case 4: return Data((0..<random.below(30)).map { _ in UInt8(random.below(256)) })
        case 5: return (0..<random.below(5)).map { _ in Self.random(&random, depth: depth + 1) }
        default:
            var values: [String: Any] = [:]
            for _ in 0..<random.below(5) { values[random.text(length: 6)] = Self.random(&random, depth: depth + 1) }
            return values
        }
    }

    private static func isSame(_ value: PropertyValue, _ other: Any) -> Bool {
        switch value {
        case .dictionary(let values):
            guard let other = other as? [String: Any], other.count == values.count else { return false }
            return values.allSatisfy { key, value in other[key].map { isSame(value, $0) } ?? false }
        case .array(let values):
            guard let other = other as? [Any], other.count == values.count else { return false }
            return zip(values, other).allSatisfy(isSame)
        case .string(let text): return (other as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
        case .integer(let number): return other as? Int == number
        case .real(let number): return other as? Double == number
        case .boolean(let truth): return other as? Bool == truth
        case .data(let bytes): return (other as? Data).map { Array($0) == bytes } ?? false
        case .date: return false
        }
    }

    @Test("Foundation's output is read unchanged", arguments: 0..<300 as Range<UInt64>)
    func agreement(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = Self.random(&random)
        let data = try PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0)
        let text = String(decoding: data, as: UTF8.self)
        // Foundation writes control characters that are invalid in XML.
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 && ![9, 10, 13].contains($0.value) }) else {
            return
        }
        let read = try PropertyListReader.read(Array(data))
        #expect(Self.isSame(read, value) || text.contains("\r"), "\(text)")
        var bytes: [UInt8] = []
        read.encode(to: &bytes)
        #expect(try PropertyValue(decoding: bytes[...]) == read)
    }

    @Test("Dates, entities, CDATA, comments and hexadecimal numbers are read")
    func forms() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><!-- a > b --><dict>
            <key>a&amp;b</key><string>&lt;é&#233;&#xE9;<![CDATA[<&>]]>&quot;</string>
            <key>n</key><integer>0x1F</integer><key>d</key><date>2001-01-01T00:01:00Z</date>
            <key>t</key><true/><key>f</key><false></false><key>e</key><array/></dict></plist>

            """
        #expect(
            try PropertyListReader.read(Array(text.utf8))
                == .dictionary([
                    "a&b": .string("<ééé<&>\""), "n": .integer(31), "d": .date(60), "t": .boolean(true),
                    "f": .boolean(false), "e": .array([]),
                ]))
    }

    @Test(
        "Errors are reported with their line",
        arguments: [
            (
                "<plist><dict>\n<key>a</key>\n<string/>\n<key>a</key><string/></dict></plist>",
                "line 4: the key \"a\" occurs twice"
            ),
            ("<plist><dict>\n<string/></dict></plist>", "line 2: there is <string> where a <key> is expected"),
            ("<plist><dict><key>a</key></dict></plist>", "has no value"),
            ("<plist><array>\n\n<integer>1x</integer></array></plist>", "line 3: \"1x\" is not a valid <integer>"),
            ("<plist><integer>99999999999999999999</integer></plist>", "is not a valid <integer>"),
            ("<plist><real>nan</real></plist>", "is not a valid <real>"),
            ("<plist><string>a & b</string></plist>", "write &amp;"),
            ("<plist><string>&#0;</string></plist>", "not a known character"),
            ("<plist><string>&xxe;</string></plist>", "not a known character"),
            ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>", "has declarations"),
            ("<plist><true/><true/></plist>", "more than one value"), ("<plist><true/></plist>x", "after </plist>"),
            ("<plist><banana/></plist>", "<banana> is not an element"), ("<dict/>", "not <plist>"), ("", "it is empty"),
            ("<plist><dict>", "ends too early"), ("<plist><string>", "<string> has no end"),
            ("<?xml version='1.0' encoding='UTF-16'?><plist><true/></plist>", "its encoding is utf-16"),
            ("<plist>\n<string>\u{1}</string></plist>", "line 2: there is a control character"),
            ("bplist00", "plutil"), ("{ A = B; }", "plutil"), ("<!-- <plist><true/></plist>", "a comment has no end"),
        ])
    func problems(text: String, expected: String) throws {
        let reason = try #require(self.reason(text))
        #expect(reason.contains(expected), "\(reason)")
    }

    @Test("Too many levels are rejected", arguments: [33, 5000, 60_000])
    func depth(levels: Int) throws {
        let text = "<plist>" + String(repeating: "<array>", count: levels)
        #expect(try #require(reason(text)).contains("more than 32 levels"))
        #expect(
            reason(
                "<plist>" + String(repeating: "<array>", count: 32) + String(repeating: "</array>", count: 32)
                    + "</plist>") == nil)
    }

    @Test("Too many values are rejected")
    func count() throws {
        let text = "<plist><array>" + String(repeating: "<true/>", count: 20_001) + "</array></plist>"
        #expect(try #require(reason(text)).contains("more than 20000 values"))
    }

    @Test("Damaged bytes are a value or rejected with a reason, and every value can be cached")
    func fuzz() throws {
        var corpus: [[UInt8]] = []
        for seed in 1...6 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let data = try PropertyListSerialization.data(
                fromPropertyList: ["a": Self.random(&random), "b": ["c": Self.random(&random)]], format: .xml,
                options: 0)
            corpus.append(Array(data))
        }
        let tokens = [
            "<dict>", "</dict>", "<key>", "<array>", "</array>", "<![CDATA[", "]]>", "<!--", "-->", "&#x", ";",
            "<true/>",
        ]
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus, tokens: tokens.map { Array($0.utf8) })
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            guard let value = try? PropertyListReader.read(bytes) else { return false }
            var encoded: [UInt8] = []
            value.encode(to: &encoded)
            struct Differs: Error {}
            guard try PropertyValue(decoding: encoded[...]) == value else { throw Differs() }
            return true
        }
        #expect(accepted > 0)
    }

    @Test("Damaged bytes of the cache are a value or none")
    func hostileCache() throws {
        var random = SplitMix64(seed: 7)
        var corpus: [[UInt8]] = []
        for _ in 0..<5 {
            let data = try PropertyListSerialization.data(
                fromPropertyList: ["x": Self.random(&random)], format: .xml, options: 0)
            var bytes: [UInt8] = []
            try? PropertyListReader.read(Array(data)).encode(to: &bytes)
            corpus.append(bytes)
        }
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus)
        _ = try loop.run(MutationLoop.inputs) { (try? PropertyValue(decoding: $0[...])) != nil }
        var deep: [UInt8] = []
        for _ in 0..<100_000 { deep += [1, 1, 0, 0, 0] }
        #expect(throws: PropertyValue.Malformed.self) { try PropertyValue(decoding: deep[...]) }
        #expect(throws: PropertyValue.Malformed.self) { try PropertyValue(decoding: [1, 255, 255, 255, 255]) }
    }
}
