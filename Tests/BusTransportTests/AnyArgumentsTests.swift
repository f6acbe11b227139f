// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import BusTransport
@testable import ServiceMessages

/// Calls of the interfaces that apps, launchers and desktops use, over a connection.
@Suite("Calls with any arguments", .timeLimit(.minutes(60)))
struct AnyArgumentsTests {
    private struct Method {
        var member: BusMember
        var types: [String]
    }

    /// Returns the methods of the introspection document, and those that it omits.
    private static func methods() -> [Method] {
        var methods = [
            Method(member: PromiseRequest.fetchData(bundle: "", item: "", type: "").member, types: ["s", "s", "s"]),
            Method(member: AdminRequest.performMember, types: ["s", "t", "a{sv}"]),
        ]
        var interface = ""
        for line in Introspection.document(of: BusTarget.searchlightPath).split(separator: "\n") {
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            if line.contains("<interface ") { interface = parts[1] }
            guard ClientInterface.all.contains(where: { $0.interface == interface }) else { continue }
            if line.contains("<method ") { methods.append(Method(member: BusMember(interface, parts[1]), types: [])) }
            if line.contains("<arg "), line.contains("direction=\"in\"") {
                methods[methods.count - 1].types.append(parts[3])
            }
        }
        return methods
    }

    private static let options = [
        "limit", "bundle", "filters", "attributes", "cursor", "correctsSpelling", "dryRun", "query", "action",
        "DISPLAY", "XDG_ACTIVATION_TOKEN", "LD_PRELOAD", "", "x",
    ]

    private static func value(_ type: String, _ random: inout SplitMix64) -> BusValue {
        switch type {
        case "s": .string(text(&random))
        case "t": .unsigned(random.pick([0, 1, .max, UInt64(Int64.max), random.next()]))
        case "u": .unsigned32(random.pick([0, 1, .max]))
        case "i": .signed32(random.pick([0, -1, .min, .max]))
        case "x": .signed(random.pick([0, -1, .min, .max]))
        case "b": .boolean(random.below(2) == 0)
        case "d": .double(random.pick([0, -1.5, .infinity, .nan, 1e300]))
        case "as": .strings((0..<random.below(4)).map { _ in text(&random) })
        case "ay": .bytes((0..<random.below(40)).map { _ in UInt8(random.below(256)) })
        case "av": .array((0..<random.below(3)).map { _ in nestedValue(&random) })
        case "aa{sv}": .dictionaries((0..<random.below(3)).map { _ in dictionary(&random) })
        default: .dictionary(dictionary(&random))
        }
    }

    private static func anyValue(_ random: inout SplitMix64) -> BusValue {
        value(random.pick(["s", "t", "u", "i", "x", "b", "d", "as", "ay", "s", "t"]), &random)
    }

    /// Returns a value that may be inside another. D-Bus cannot represent all texts there.
    private static func nestedValue(_ random: inout SplitMix64) -> BusValue {
        switch anyValue(&random) {
        case .string(let text): .string(text: text)
        case .strings(let texts): .strings(texts.map(\.fitForBus))
        case let value: value
        }
    }

    private static func dictionary(_ random: inout SplitMix64) -> [String: BusValue] {
        var entries: [String: BusValue] = [:]
        for _ in 0..<random.below(3) { entries[random.pick(options)] = nestedValue(&random) }
        return entries
    }

    private static func text(_ random: inout SplitMix64) -> String {
        let start = random.pick(
            ["", "item:1", "../x", "open", "é\u{301}\u{202E}", String(repeating: "w ", count: 3000)])
        // A text with a NUL is not sent.
        let scalars = (start + random.text(length: random.below(12))).unicodeScalars
        return String(String.UnicodeScalarView(scalars.filter { $0 != "\0" }))
    }

    /// Returns arguments of the declared types, usually with something changed.
    private static func arguments(_ method: Method, _ random: inout SplitMix64) -> [BusValue] {
        var arguments = method.types.map { value($0, &random) }
        for _ in 0..<random.below(3) {
            let place = random.below(arguments.count + 1)
            switch random.below(3) {
            case 0 where place < arguments.count: arguments.remove(at: place)
            case 1 where place < arguments.count:
                arguments[place] = value(random.pick(["s", "t", "i", "as", "ay", "av", "aa{sv}", "a{sv}"]), &random)
            default: arguments.insert(anyValue(&random), at: place)
            }
        }
        return arguments
    }

    @Test("A call of any method is read, or rejected with a short reason, and the connection stays open")
    func anyArguments() async throws {
        let pair = try BusPair(onWorkerCall: { call in
            do throws(BusError) {
                guard let kind = ClientInterface.kind(of: call.member) else { throw .unknownMethod(call.member) }
                _ = try kind.init(call)
                call.reply()
            } catch { call.refuse(error) }
        })
        let methods = Self.methods()
        let interfaces = Set(ClientInterface.all.map { $0.interface })
        #expect(Set(methods.map(\.member.interface)) == interfaces)
        var random = SplitMix64(seed: MutationLoop.seed)
        var accepted: [String: Int] = [:]
        var rejected = 0
        for _ in 0..<MutationLoop.inputs {
            var method = random.pick(methods)
            let name = method.member.interface
            if random.below(50) == 0 { method.member.member += "X" }
            do throws(BusError) {
                _ = try await pair.host.call(method.member, Self.arguments(method, &random))
                accepted[name, default: 0] += 1
            } catch {
                guard case .remote(let name, let message) = error,
                    [BusErrorName.invalidArguments, BusErrorName.unknownMethod].contains(name),
                    (1..<500).contains(message.utf8.count)
                else { throw error }
                rejected += 1
            }
        }
        #expect(Set(accepted.keys) == interfaces, "\(accepted), seed \(MutationLoop.seed)")
        #expect(rejected > MutationLoop.inputs / 4)
    }
}

/// The names of files in reports of extensions.
@Suite("A file that was left out")
struct LeftOutNameTests {
    @Test("keeps its name in the report, even if D-Bus cannot represent it as a text")
    func name() {
        let name = "/home/ada/a\u{FFFE}.pdf"
        guard case .string(let told)? = HostRequest.leftOut(LeftOut(name: name, reason: "damaged")).arguments.first
        else {
            Issue.record("the name is no text")
            return
        }
        #expect(told == name)
    }
}
