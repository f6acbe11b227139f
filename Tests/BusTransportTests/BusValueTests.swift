// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import BusTransport

@Suite("Values of messages", .timeLimit(.minutes(10)))
struct BusValueTests {
    private let echo = BusConnectionTests.echo

    /// Returns a value of any type except descriptors. Dictionaries nest up to a maximum depth.
    private func value(_ random: inout SplitMix64, depth: Int) -> BusValue {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
        case 0: .string(text(&random))
        case 1: .strings((0..<Int.random(in: 0...3, using: &random)).map { _ in text(&random) })
        case 2: .unsigned(.random(in: 0 ... .max, using: &random))
        case 3: .boolean(.random(using: &random))
        case 4: .bytes((0..<Int.random(in: 0...9, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        case 5: .double(Double(bitPattern: .random(in: 0 ... .max, using: &random)))
        case 6: .signed(.random(in: .min ... .max, using: &random))
        case 7: .unsigned32(.random(in: 0 ... .max, using: &random))
        case 8: .signed32(.random(in: .min ... .max, using: &random))
        case 9: .dictionary(entries(&random, depth: depth - 1))
        case 10: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            .dictionaries((0..<Int.random(in: 0...3, using: &random)).map { _ in entries(&random, depth: depth - 1) })
        }
    }

    private func entries(_ random: inout SplitMix64, depth: Int) -> [String: BusValue] {
        var entries: [String: BusValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) { entries[text(&random)] = value(&random, depth: depth) }
        return entries
    }

    private func text(_ random: inout SplitMix64) -> String {
        String((0..<Int.random(in: 0...6, using: &random)).map { _ in "aé漢 🙂\n".randomElement(using: &random) ?? "a" })
    }

    /// Equal values have equal descriptions. NaN equals nothing.
    private func description(_ value: BusValue) -> String {
        switch value {
        case .double(let number): "\(number.bitPattern)"
        case .dictionary(let entries):
            "{"
                + entries.sorted { $0.key < $1.key }.map { "\($0.key.debugDescription):\(description($0.value))" }
                .joined() + "}"
        case .array(let values): "<" + values.map(description).joined() + ">"
        case .dictionaries(let list): "[" + list.map { description(.dictionary($0)) }.joined() + "]"
        default: "\(value)"
        }
    }

    @Test("Values of all types arrive unchanged, even nested dictionaries")
    func roundTrip() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let values = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                value(&random, depth: 4)
            }
            let answer = try await pair.host.call(echo, values)
            #expect(answer.map(description) == values.map(description), "seed \(seed)")
            #expect(answer.map(\.signature) == values.map(\.signature), "seed \(seed)")
            let sizes = (answer.map(\.approximateBytes), values.map(\.approximateBytes))
            #expect(sizes.0 == sizes.1)
        }
    }

    @Test(
        "Texts with noncharacters arrive unchanged as arguments", arguments: [0xFFFE, 0xFFFF, 0xFDD0, 0x1FFFF, 0xFFFD])
    func noncharacters(scalar: UInt32) async throws {
        let text = "e\u{301}" + String(try #require(Unicode.Scalar(scalar))) + "x"
        let pair = try BusPair(onWorkerCall: { call in
            var arguments = BusArguments(call.arguments, of: "Echo")
            do throws(BusError) {
                call.reply([.string(try arguments.string()), .strings(try arguments.strings())])
            } catch { call.refuse(error) }
        })
        var answer = BusArguments(
            try await pair.host.call(echo, [.string(text), .strings(["plain", text])]), of: "Echo")
        // Equal strings may have different characters.
        #expect(Array(try answer.string().utf8) == Array(text.utf8))
        #expect(try answer.strings().map { Array($0.utf8) } == [Array("plain".utf8), Array(text.utf8)])
    }

    @Test("A message of an error keeps its words if it has characters that D-Bus cannot represent")
    func errorWithAnyText() async throws {
        let pair = try BusPair(onWorkerCall: { $0.refuse(.malformed("a\0b\u{FFFE}c")) })
        let refused = await refusal { _ = try await pair.host.call(echo, []) }
        #expect(refused?.message == "A message is malformed: a\u{FFFD}b\u{FFFD}c.")
    }

    @Test("A text with a NUL is neither sent nor read as an argument", arguments: ["a\0b", "\0", "\0\u{301}"])
    func textWithNUL(text: String) async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        for value in [.string(text), .strings(["plain", text])] as [BusValue] {
            await #expect(throws: BusError.self) { _ = try await pair.host.call(echo, [value]) }
        }
        #expect(try await pair.host.call(echo, [.unsigned(1)]).count == 1)
        var arguments = BusArguments([.bytes(Array(text.utf8)), .array([.bytes(Array(text.utf8))])], of: "Echo")
        #expect(throws: BusError.self) { _ = try arguments.string() }
        #expect(throws: BusError.self) { _ = try arguments.strings() }
    }

    @Test("A named value that D-Bus cannot represent is an error, and the connection stays open")
    func unfitNamedValue() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        for entries in [["a\0b": .unsigned(1)], ["a": .string("\u{FFFE}")]] as [[String: BusValue]] {
            do throws(BusError) {
                _ = try await pair.host.call(echo, [.dictionary(entries)])
                Issue.record("The value was sent.")
            } catch { #expect(error.description.contains("noncharacter")) }
        }
        #expect(try await pair.host.call(echo, [.unsigned(1)]).count == 1)
    }

    @Test("The sender rejects dictionaries that are nested too deeply")
    func tooDeep() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply($0.arguments) })
        var value = BusValue.string("")
        for _ in 0...BusValue.maximumDepth { value = .dictionary(["a": value]) }
        let deep = value
        await #expect(throws: BusError.self) { _ = try await pair.host.call(echo, [deep]) }
        // The connection continues.
        let answer = try await pair.host.call(echo, [.signed(-1)])
        #expect(answer.map(description) == ["signed(-1)"])
    }

    @Test("Too many entries are rejected with the limit, and the connection stays open")
    func tooMany() async throws {
        let pair = try BusPair(onWorkerCall: { $0.reply([.unsigned(0)]) })
        let list = [[String: BusValue]](repeating: [:], count: BusValue.maximumEntries + 1)
        let refused = await refusal { _ = try await pair.host.call(echo, [.dictionaries(list)]) }
        #expect(refused?.name == BusErrorName.invalidArguments)
        #expect(refused?.message.contains("100000") == true)
        _ = try await pair.host.call(echo, [.dictionaries(Array(list.dropLast()))])
    }

    @Test("Arguments of a wrong type are rejected with both types")
    func wrongType() {
        var arguments = BusArguments([.dictionaries([])], of: "Search")
        #expect(throws: BusError.self) { _ = try arguments.dictionary() }
        var other = BusArguments([.double(1)], of: "Search")
        do { _ = try other.unsigned32() } catch { #expect(error.description.contains("type d where u")) }
    }
}

/// Returns the error of a rejected call; `nil` if the call succeeds.
func refusal(_ body: () async throws -> Void) async -> (name: String, message: String)? {
    do {
        try await body()
        return nil
    } catch BusError.remote(let name, let message) {
        return (name, message)
    } catch {
        return ("", "\(error)")
    }
}
