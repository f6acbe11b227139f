// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// Opened items and continued searches, in apps that are running, stopped, crashing or missing.
@Suite("Continued activities", .timeLimit(.minutes(30)))
struct ContinuationTests {
    /// The folders of invented apps: their extensions, desktop entries and programs.
    private struct Places {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            for name in ["data/applications", "config", "extensions"] {
                try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            }
        }

        /// Adds an extension. If there is a command, its app has a desktop entry.
        func addApp(_ bundle: String, continues: Bool = true, command: String? = nil) throws {
            try PlainBundle(
                bundle, in: folder.path("extensions"), manifest: continues ? ["CoreSpotlightContinuation": true] : [:])
            guard let command else { return }
            let program = try folder.write(Array("#!/bin/sh\n\(command)\n".utf8), to: bundle)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            try folder.write(
                Array("[Desktop Entry]\nType=Application\nName=\(bundle)\nExec=\(program) %u\n".utf8),
                to: "data/applications/\(bundle).desktop")
        }

        /// Returns the command that starts an app with the library, which receives activities and
        /// records them.
        func libraryApp(_ bundle: String) throws -> String {
            "export SEARCHLIGHT_BUNDLE_IDENTIFIER=\(bundle)\nexec '\(try Program.path("TestApp"))' continue '\(log)'"
        }

        var log: String { folder.path("log") }
        /// The lines that apps recorded about activities.
        var noted: [String] {
            ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    /// A service for invented apps.
    private struct World {
        let service: TestService
        let places: Places
        var noted: [String] { places.noted }

        init(_ prepare: (Places) throws -> Void = { _ in }) async throws {
            places = try Places()
            try prepare(places)
            let folder = places.folder
            var environment = [
                "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"), "XDG_DATA_DIRS": folder.path("none"),
                "XDG_CONFIG_HOME": folder.path("config"), "XDG_CONFIG_DIRS": folder.path("none"),
                "PATH": "/usr/bin:/bin",
                "SEARCHLIGHT_STORE": folder.path("store"),
            ]
            environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
            service = try await TestService(folder: folder) { [environment] in
                $0.engine.worker.environment = environment
            }
        }

        /// Makes an app donate an item, and returns the item's number.
        func donate(_ identifier: String, _ bundle: String, to shell: TestClient) async throws -> UInt64 {
            let app = try await service.app(bundle)
            try await app.donate([identifier])
            _ = try await app.query("title == '*'")
            app.connection.close()
            let options: [String: BusValue] = ["bundle": .string(bundle)]
            let member = BusMember(LauncherRequest.interface, "Search")
            let values = try await shell.connection.call(member, [.string(identifier), .dictionary(options)])
            guard case .dictionaries(let items)? = values.first, case .unsigned(let number)? = items.first?["number"]
            else { throw BusError.malformed("no item") }
            return number
        }

        /// Returns the outcome of opening an item, or the name of the error.
        func open(_ number: UInt64, _ shell: TestClient, _ options: [String: BusValue] = [:]) async -> String {
            await outcome("Open", [.unsigned(number), .dictionary(options)], shell)
        }

        func continueSearch(_ text: String, _ bundle: String, _ shell: TestClient) async -> String {
            await outcome("Continue", [.string(bundle), .string(text), .dictionary([:])], shell)
        }

        private func outcome(_ method: String, _ arguments: [BusValue], _ shell: TestClient) async -> String {
            do {
                let values = try await shell.connection.call(BusMember(LauncherRequest.interface, method), arguments)
                guard case .dictionary(let opened)? = values.first else { return "?" }
                if case .string(let outcome)? = opened["outcome"] { return outcome }
                if case .string(let way)? = opened["way"] { return "dry " + way }
                return "?"
            } catch BusError.remote(let name, _) {
                return String(name.split(separator: ".").last ?? "")
            } catch {
                return "\(error)"
            }
        }

        /// Returns a running app that has registered and answers.
        func run(_ bundle: String, taking: Bool = true) async throws -> RunningApp {
            RunningApp(try await service.app(bundle), taking)
        }
    }

    private final class RunningApp: Sendable {
        let client: TestClient
        let taken = Mutex<[ContinuedActivity]>([])

        init(_ client: TestClient, _ takes: Bool) {
            self.client = client
            client.onCall { [weak self] call in
                guard let activity = try? ContinuedActivity(call) else {
                    return call.refuse(name: BusErrorName.failed, message: "?")
                }
                self?.taken.withLock { $0.append(activity) }
                call.reply([.boolean(takes)])
            }
        }

        func register() async throws { _ = try await client.connection.call(ActivityRequest.register.member, []) }
    }

    private func zombies() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { $0.allSatisfy(\.isNumber) }.count {
            name in
            guard let text = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                let rest = text.split(separator: ")").last?.split(separator: " ")
            else { return false }
            return rest.first == "Z" && rest.dropFirst().first == "\(getpid())"
        }
    }

    @Test("A running app gets the item or the text, with any manifest")
    func running() async throws {
        let world = try await World()
        let shell = try await world.service.shell()
        let number = try await world.donate("one", "com.example.notes", to: shell)
        let app = try await world.run("com.example.notes")
        #expect(await world.open(number, shell) == "Unsupported")
        try await app.register()
        #expect(await world.open(number, shell, ["dryRun": .boolean(true)]) == "dry runningApp")
        #expect(await world.open(number, shell) == "continued")
        #expect(await world.continueSearch("sought", "com.example.notes", shell) == "continued")
        #expect(app.taken.withLock { $0 } == [.item("one"), .search("sought")])
        _ = try await app.client.connection.call(ActivityRequest.unregister.member, [])
        #expect(await world.continueSearch("sought", "com.example.notes", shell) == "Unsupported")
        await world.service.stop()
    }

    @Test("A started app gets its item from the library, once, and only of its own connection's bundle")
    func started() async throws {
        let world = try await World {
            try $0.addApp("com.example.notes", command: try $0.libraryApp("com.example.notes"))
        }
        let shell = try await world.service.shell()
        let number = try await world.donate("one", "com.example.notes", to: shell)
        let stranger = try await world.run("com.example.other")
        try await stranger.register()
        #expect(await world.open(number, shell) == "continued")
        #expect(await world.continueSearch("two words", "com.example.notes", shell) == "continued")
        #expect(
            world.noted == [
                "com.apple.corespotlightitem kCSSearchableItemActivityIdentifier one",
                "com.apple.corespotlightquery kCSSearchQueryString two words",
            ])
        #expect(stranger.taken.withLock { $0.isEmpty })
        await world.service.stop()
    }

    @Test("An app is started if its running process refuses; the words that found the item count")
    func refusing() async throws {
        let world = try await World {
            try $0.addApp("com.example.notes", command: try $0.libraryApp("com.example.notes"))
        }
        let shell = try await world.service.shell()
        let number = try await world.donate("one", "com.example.notes", to: shell)
        let app = try await world.run("com.example.notes", taking: false)
        try await app.register()
        #expect(await world.open(number, shell, ["query": .string("on"), "DISPLAY": .string(":7")]) == "continued")
        #expect(world.noted.count == 1)
        #expect(app.taken.withLock { $0.count } == 1)
        #expect(await world.open(number, shell, ["SHELL": .string("x")]) == "InvalidArguments")
        await world.service.stop()
    }

    @Test("Activities of two callers for one stopped app start it once")
    func once() async throws {
        let world = try await World { places in
            let start = "echo start >> '\(places.folder.path("starts"))'\nexport SEARCHLIGHT_KEEP=2\n"
            try places.addApp("com.example.notes", command: start + (try places.libraryApp("com.example.notes")))
        }
        let (one, two) = (try await world.service.shell(), try await world.service.shell())
        async let first = world.continueSearch("a", "com.example.notes", one)
        async let second = world.continueSearch("b", "com.example.notes", two)
        #expect(await [first, second] == ["continued", "continued"])
        #expect(world.noted.count == 2)
        #expect(try String(contentsOfFile: world.places.folder.path("starts"), encoding: .utf8) == "start\n")
        await world.service.stop()
    }

    private enum Kind: CaseIterable {
        case running, started, crashing, killed, missing, plain
    }

    /// 50 opened items and continuations; SEARCHLIGHT_LONG_TESTS increases the number to 500.
    @Test("Random opens and continuations have the result of the app's state: typed, once, and without zombies")
    func random() async throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_LONG_TESTS"] != nil
        let name = { @Sendable (kind: Kind) in "com.example.\(kind)" }
        let world = try await World { places in
            try places.addApp(name(.running), command: "exit 9")
            try places.addApp(name(.started), command: try places.libraryApp(name(.started)))
            try places.addApp(name(.crashing), command: "exit 5")
            try places.addApp(name(.killed), command: "kill -9 $$")
            try places.addApp(name(.missing))
            try places.addApp(name(.plain), continues: false, command: "echo x >> '\(places.folder.path("plain"))'")
        }
        let shell = try await world.service.shell()
        var random = SplitMix64(seed: 31)
        var numbers: [Kind: UInt64] = [:]
        for kind in Kind.allCases { numbers[kind] = try await world.donate("item-\(kind)", name(kind), to: shell) }
        let app = try await world.run(name(.running))
        try await app.register()
        var (taken, started, plain) = (0, 0, 0)
        for _ in 0..<(isLong ? 500 : 50) {
            let kind = random.pick(Kind.allCases)
            let isSearch = random.below(2) == 0
            let outcome =
                isSearch
                ? await world.continueSearch("text", name(kind), shell)
                : await world.open(try #require(numbers[kind]), shell)
            let expected =
                switch kind {
                case .running, .started: "continued"
                case .crashing, .killed: "Crashed"
                case .missing: "Unsupported"
                case .plain: isSearch ? "Unsupported" : "finished"
                }
            #expect(outcome == expected, "\(kind), search: \(isSearch)")
            if kind == .running { taken += 1 }
            if kind == .started { started += 1 }
            if kind == .plain, !isSearch { plain += 1 }
        }
        #expect(app.taken.withLock { $0.count } == taken)
        #expect(world.noted.count == started)
        let plainStarts = (try? String(contentsOfFile: world.places.folder.path("plain"), encoding: .utf8)) ?? ""
        #expect(plainStarts.count == plain * 2)
        let areReaped = try await eventually { try zombies() == 0 }
        #expect(areReaped)
        await world.service.stop()
    }
}
