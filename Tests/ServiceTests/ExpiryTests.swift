// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import IdleScheduling
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// Items that are a month old are kept: a week before they expire, a service requests them by
/// identifier.
@Suite("Items that are about to expire", .timeLimit(.minutes(10)))
struct ExpiryTests {
    private static let bundle = "com.example.by-name"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private final class Asked: Sendable {
        private let state = Mutex<[[String]]>([])
        func add(_ identifiers: [String]) { state.withLock { $0.append(identifiers) } }
        var all: [[String]] { state.withLock { $0 } }
    }

    /// Returns a service for the same store, `day` days later, on an idle machine.
    private func service(day: Double, worker: WorkerConfiguration? = nil) async throws -> TestService {
        try await TestService(folder: folder) { configuration in
            configuration.engine.now = { Date().timeIntervalSinceReferenceDate + day * 86400 }
            if let worker { configuration.engine.worker = worker }
            configuration.conditions = { _ in ScriptedConditions(.idle) }
        }
    }

    /// Returns the items found a month and four days after the first donation: only those that were
    /// donated again.
    private func found(_ bundle: String, _ identifier: String) async throws -> [String] {
        let service = try await service(day: 34)
        let app = try await service.app(bundle)
        let found = try await app.query("title == '\(identifier)'").identifiers
        await service.stop()
        return found
    }

    @Test("are requested by identifier from the app's delegate, and stay; others are deleted")
    func delegate() async throws {
        do {
            let service = try await service(day: 0)
            try await service.app().donate(["a"])
            try await service.app("com.example.other").donate(["b"])
            await service.stop()
        }
        let asked = Asked()
        do {
            let service = try await service(day: 20)
            let app = try await service.app()
            _ = try await app.connection.call(DelegateRequest.register.member, [])
            app.onCall { call in
                asked.add(["too early"])
                call.reply()
            }
            try await app.donate(["c"])
            await service.stop()
        }
        let service = try await service(day: 24)
        let app = try await service.app()
        app.onCall { [weak app] call in
            guard case .reindexItems(let identifiers)? = try? WorkerRequest(call) else { return call.reply() }
            Task {
                try await app?.donate(identifiers)
                call.reply()
                asked.add(identifiers)
            }
        }
        _ = try await app.connection.call(DelegateRequest.register.member, [])
        #expect(await eventually { !asked.all.isEmpty })
        #expect(asked.all == [["a"]])
        await service.stop()
        #expect(try await found("com.example.notes", "a") == ["a"])
        #expect(try await found("com.example.other", "b") == [])
    }

    @Test("are requested by identifier from the extension, if the app does not run")
    func `extension`() async throws {
        let library = folder.path("by-name.so")
        let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let (ending, output) = try ChildProcess.run(
            "/usr/bin/env",
            [
                "clang", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC",
                "-I\(project)/Sources/SearchlightExtension/include", project + "/Tests/Fixtures/Extensions/by-name.c",
                "-o", library,
            ])
        try #require(ending == .exited(0), "\(output)")
        try PlainBundle(
            Self.bundle, in: folder.path("extensions"), library: Array(Data(contentsOf: URL(filePath: library))))
        try FileManager.default.createDirectory(atPath: folder.path("home"), withIntermediateDirectories: true)
        let worker = WorkerConfiguration(
            workerPath: try Program.path("searchlight-worker"), frameworkFolder: nil,
            environment: [
                "HOME": folder.path("home"),
                "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
            ])
        do {
            let service = try await service(day: 0)
            try await service.app(Self.bundle).donate(["a"])
            await service.stop()
        }
        let service = try await service(day: 24, worker: worker)
        #expect(
            await eventually { service.lines.contains("\(Self.bundle) has donated; the index has 1 items of it.") },
            "\(service.lines.all)")
        await service.stop()
        #expect(try await found(Self.bundle, "a").count == 1)
    }
}
