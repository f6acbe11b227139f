// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

@Suite("The search of KRunner", .enabled(if: PrivateBus.isAvailable), .timeLimit(.minutes(10)))
struct RunnerTests {
    /// A runner manager that does what KRunner 5.103 does with `X-Plasma-API=DBus`: it asks for the
    /// actions once, orders matches by kind and relevance, and ends each series of searches with
    /// `Teardown`.
    actor FakeRunner {
        struct Match: Hashable {
            var identifier: String
            var text: String
            var icon: String
            var kind: Int64
            var relevance: Double
            var properties: [String: ForeignValue]
        }
        private let client: ForeignClient
        let actions: [String]
        private(set) var matches: [Match] = []

        init(_ bus: PrivateBus) async throws {
            client = try await ForeignClient(bus, RunnerRequest.interface)
            actions = try await client.call("Actions", []).first?.members.compactMap { $0.members.first?.text } ?? []
        }

        func type(_ text: String) async throws {
            let answer = try await client.call("Match", [.string(text)])
            matches = (answer.first?.members ?? []).compactMap { match -> Match? in
                let fields = match.members
                guard fields.count == 6, let identifier = fields[0].text, let text = fields[1].text,
                    let icon = fields[2].text, case .signed(let kind) = fields[3], let relevance = fields[4].finite
                else { return nil }
                return Match(
                    identifier: identifier, text: text, icon: icon, kind: kind, relevance: relevance,
                    properties: fields[5].entries)
            }
            let order = matches.sorted { ($0.kind, $0.relevance) > ($1.kind, $1.relevance) }
            #expect(order == matches)
        }

        func run(_ identifier: String, _ action: String = "") async throws {
            _ = try await client.call("Run", [.string(identifier), .string(action)])
        }

        func end() async throws { _ = try await client.call("Teardown", []) }
    }

    /// The clipboard manager and the file manager of a desktop.
    private final class Desktop: Sendable {
        let taken = Mutex<[String]>([])
        private let buses = Mutex<[MessageBus]>([])

        init(_ bus: PrivateBus) async throws {
            for name in ["org.kde.klipper", "org.freedesktop.FileManager1"] {
                let connection = try MessageBus(
                    address: bus.address, name: "test-desktop",
                    onCall: { [weak self] call in
                        let words = call.arguments.flatMap { value -> [String] in
                            switch value {
                            case .string(let text): [text]
                            case .strings(let texts): texts
                            default: ["?"]
                            }
                        }
                        self?.taken.withLock {
                            $0.append(([call.path, call.member.member] + words).joined(separator: " "))
                        }
                        call.reply()
                    }, onDisconnect: { _ in })
                _ = try await connection.requestName(name)
                buses.withLock { $0.append(connection) }
            }
        }
    }

    @Test("Matches have kinds, relevance, icons, groups and passages, in the order of the search")
    func matches() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Beech"], attributes: ["contentType": .string("com.adobe.pdf")])
        try await world.donate(
            ["Beech wood", "Of a beech", "Wood"], from: "com.example.mail",
            attributes: ["textContent": .string("About <beech> & ash.")])
        let runner = try await FakeRunner(world.bus)
        #expect(runner.actions == ["copy", "show-in-folder", "call", "navigate"])
        try await runner.type("beech")
        let found = await runner.matches
        #expect(found.map(\.text).first == "Beech" && found.count == 4)
        #expect(found.first?.kind == 100 && found.dropFirst().allSatisfy { $0.kind == 30 })
        #expect(found.first?.icon == "x-office-document")
        #expect(found.last?.properties["subtext"]?.text == "About <beech> & ash.")
        #expect(found.last?.properties["category"]?.text?.isEmpty == false)
        #expect(found.allSatisfy { $0.properties["actions"]?.members == [.text("copy")] })
        try await runner.end()
        await world.service.stop()
    }

    /// KRunner calls from several threads. While the service starts, the calls for a typed word
    /// wait for each other, and then arrive at once, in any order.
    @Test("Searches of a typed word that arrive in any order are all answered")
    func anyOrder() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Larch"])
        let client = try await ForeignClient(world.bus, RunnerRequest.interface)
        var random = SplitMix64(seed: 43)
        for _ in 0..<20 {
            let texts = ["la", "lar", "larc", "larch"].shuffled(using: &random)
            let found = try await withThrowingTaskGroup(of: Int.self) { group in
                for text in texts {
                    group.addTask { try await client.call("Match", [.string(text)]).first?.members.count ?? 0 }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found == [1, 1, 1, 1])
        }
        await world.service.stop()
    }

    @Test("A match is opened, copied and shown in its folder, with the file that its app may read")
    func actions() async throws {
        let world = try await DesktopWorld()
        let desktop = try await Desktop(world.bus)
        let file = try world.service.folder.write([1], to: "a pine.txt")
        try await world.donate(
            ["Pine file"], from: "com.example.pines",
            attributes: ["contentURL": .url("file://" + file.replacing(" ", with: "%20"))])
        try await world.donate(["Pine page"], attributes: ["url": .string("https://example.org/pine")])
        try await world.donate(["Pine"])
        let runner = try await FakeRunner(world.bus)
        try await runner.type("pine")
        let matches = await Dictionary(uniqueKeysWithValues: runner.matches.map { ($0.text, $0) })
        let pineFile = try #require(matches["Pine file"])
        #expect(pineFile.properties["actions"]?.members == [.text("copy"), .text("show-in-folder")])
        for title in ["Pine file", "Pine page", "Pine"] {
            try await runner.run(try #require(matches[title]).identifier, "copy")
        }
        try await runner.run(pineFile.identifier, "show-in-folder")
        let set = "/klipper setClipboardContents"
        #expect(
            desktop.taken.withLock { $0 } == [
                "\(set) \(file)", "\(set) https://example.org/pine", "\(set) Pine",
                "/org/freedesktop/FileManager1 ShowItems file://\(file.replacing(" ", with: "%20")) ",
            ])
        try world.install("com.example.pines")
        try await runner.run(pineFile.identifier)
        #expect(world.log.count == 1 && world.log.first?.hasPrefix("com.example.pines") == true)
        let noFile = await refusal { try await runner.run(try #require(matches["Pine"]).identifier, "show-in-folder") }
        #expect(noFile?.hasSuffix("NotFound") == true)
        let noAction = await refusal { try await runner.run(pineFile.identifier, "delete") }
        #expect(noAction == BusErrorName.invalidArguments)
        await world.service.stop()
    }

    @Test("Without a clipboard manager the copy fails with its name, and an app that is off is not matched or run")
    func refusals() async throws {
        let world = try await DesktopWorld()
        try await world.donate(["Yew"])
        let runner = try await FakeRunner(world.bus)
        try await runner.type("yew")
        let identifier = try #require(await runner.matches.first?.identifier)
        let noClipboard = await refusal { try await runner.run(identifier, "copy") }
        #expect(noClipboard?.hasSuffix("Unavailable") == true)
        try await world.set("com.example.notes", isShown: false)
        try await runner.type("yew")
        #expect(await runner.matches.isEmpty)
        for action in ["", "copy"] {
            let off = await refusal { try await runner.run(identifier, action) }
            #expect(off?.hasSuffix("NotFound") == true)
        }
        await world.service.stop()
    }
}
