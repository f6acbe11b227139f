// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import IdleScheduling
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightEngine
@testable import SearchlightService

/// Extensions that are added and removed while a service is running.
@Suite("Extensions of a running service", .timeLimit(.minutes(10)))
struct ExtensionKeeperTests {
    private let folder: TemporaryFolder
    private var extensions: String { folder.path("extensions") }

    init() throws { folder = try TemporaryFolder() }

    private func service(_ change: @escaping (inout ServiceConfiguration) -> Void = { _ in }) async throws
        -> TestService
    {
        try await TestService(folder: folder) { configuration in
            configuration.engine.tracksExtensions = true
            configuration.extensionQuiet = .milliseconds(2)
            change(&configuration)
        }
    }

    @Test("An added, replaced, removed or returned extension is noticed, without a restart or a request")
    func comesAndGoes() async throws {
        let service = try await service()
        // The folder does not exist yet.
        try PlainBundle("com.example.x", in: extensions)
        #expect(await eventually { service.lines.contains("com.example.x was added.") })
        try PlainBundle("com.example.x", in: extensions, version: "2")
        #expect(await eventually { service.lines.contains("com.example.x was replaced.") })
        // The service requests the pending reindex. This service has no workers.
        #expect(await eventually { service.lines.contains("The pending reindex of com.example.x failed.") })
        let engine = try #require(service.service.engine)
        engine.ledger?.update { $0.noteDonation(of: "com.example.x") }
        rename(extensions + "/com.example.x.searchext", folder.path("aside"))
        #expect(await eventually { service.lines.contains("com.example.x was removed.") })
        #expect(engine.removals.map(\.bundle) == ["com.example.x"])
        rename(folder.path("aside"), extensions + "/com.example.x.searchext")
        #expect(await eventually { service.lines.contains("com.example.x is back.") })
        #expect(engine.removals.isEmpty)
        await service.stop()
    }

    @Test("A rejected extension is reported with the reason, once for each reason")
    func refused() async throws {
        let path = try PlainBundle("com.example.x", in: extensions, library: [1, 2, 3]).path
        let service = try await service()
        func told(_ text: String) -> Int { service.lines.all.count { $0.contains(text) } }
        #expect(await eventually { told("\(path) is refused. library.so is not a shared library") == 1 })
        let engine = try #require(service.service.engine)
        for _ in 0..<3 { await engine.refreshExtensions() }
        try FileManager.default.removeItem(atPath: path + "/library.so")
        #expect(await eventually { told("\(path) is refused. Its library library.so") == 1 })
        try PlainBundle("com.example.x", in: extensions)
        #expect(await eventually { service.lines.contains("com.example.x was added.") })
        #expect(told("is refused") == 2)
        try FileManager.default.removeItem(atPath: path + "/library.so")
        #expect(await eventually { told("is refused") == 3 })
        await service.stop()
    }

    @Test("An extension that is copied file by file is rejected until it is complete, and then used")
    func copied() async throws {
        let service = try await service()
        let path = extensions + "/com.example.x.searchext"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let engine = try #require(service.service.engine)
        #expect(await eventually { engine.registry.refusals.count == 1 })
        let whole = try PlainBundle("com.example.x", in: folder.path("whole"))
        try FileManager.default.copyItem(atPath: whole.path + "/Info.plist", toPath: path + "/Info.plist")
        #expect(
            await eventually {
                if case .libraryUnreadable? = engine.registry.refusals.first?.problem { true } else { false }
            })
        let half = Array(PlainBundle.library.prefix(200))
        try Data(half).write(to: URL(filePath: path + "/library.so"))
        #expect(
            await eventually {
                if case .damagedLibrary? = engine.registry.refusals.first?.problem { true } else { false }
            })
        let handle = try #require(FileHandle(forWritingAtPath: path + "/library.so"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(PlainBundle.library.dropFirst(200)))
        try handle.close()
        #expect(await eventually { service.lines.contains("com.example.x was added.") })
        await service.stop()
    }

    @Test("The items of a removed extension are deleted when due, without a request")
    func removedForGood() async throws {
        try PlainBundle("com.example.notes", in: extensions)
        let service = try await service { $0.engine.removalGrace = 0.05 }
        let app = try await service.app("com.example.notes")
        try await app.donate(["a", "b"])
        let engine = try #require(service.service.engine)
        engine.ledger?.update { $0.noteDonation(of: "com.example.notes") }
        try FileManager.default.removeItem(atPath: extensions + "/com.example.notes.searchext")
        #expect(
            await eventually {
                service.lines.contains("com.example.notes is no longer installed; its 2 items were deleted.")
            })
        let counts = try await engine.itemCounts()
        #expect(counts.isEmpty)
        await service.stop()
    }

    @Test("The folders are watched again after a repair, and changes during it are found")
    func repair() async throws {
        let service = try await service()
        let repair = try await HeldRepair(service.service.holder)
        try PlainBundle("com.example.x", in: extensions)
        await repair.end()
        #expect(await eventually { service.lines.contains("com.example.x was added.") })
        await service.stop()
    }

    @Test("An extension that another client's request finds first is reindexed too")
    func foundByOthers() async throws {
        let service = try await service { $0.extensionQuiet = .seconds(3600) }
        let engine = try #require(service.service.engine)
        try PlainBundle("com.example.x", in: extensions)
        let listing = try await engine.extensionListing()
        #expect(listing.extensions.map(\.identifier) == ["com.example.x"])
        #expect(await eventually { service.lines.contains("com.example.x was added.") })
        #expect(await eventually { service.lines.contains("The pending reindex of com.example.x failed.") })
        await service.stop()
    }

    /// Gives a service a clock that the test advances, for waits and for the wall clock.
    private func move(_ configuration: inout ServiceConfiguration, by clock: ManualClock) {
        let start = clock.now
        configuration.clock = clock
        configuration.extensionQuiet = .seconds(3600)
        configuration.engine.now = { 800_000_000 + (clock.now - start) / .seconds(1) }
    }

    /// Returns when a reindex has failed `count` times and the service waits to retry.
    private func failed(_ count: Int, _ service: TestService) async throws -> Bool {
        func failures() -> Int { service.lines.all.count { $0.contains("pending reindex of com.example.x failed") } }
        guard await eventually({ failures() == count }) else { return false }
        let isWaiting = try await eventually {
            let report = try await service.service.scheduling.schedule(of: nil)
            return report.jobs.first?.gates.contains { $0.gate == .backOff && $0.state == .closed } == true
        }
        return isWaiting && failures() == count
    }

    @Test("A failed reindex is repeated after 30 s, and then after twice the time, while it is pending")
    func triedAgain() async throws {
        let clock = ManualClock()
        try PlainBundle("com.example.x", in: extensions)
        let service = try await service { move(&$0, by: clock) }
        func failures() -> Int { service.lines.all.count { $0.contains("pending reindex of com.example.x failed") } }
        #expect(try await failed(1, service))
        let requests = service.service.load.total
        for (count, wait) in [(2, 30), (3, 60), (4, 120)] {
            clock.advance(by: .seconds(wait - 1))
            #expect(failures() == count - 1)
            clock.advance(by: .seconds(1))
            #expect(try await failed(count, service))
        }
        #expect(service.service.load.total > requests)
        // An action by the user during that time ends the wait.
        let engine = try #require(service.service.engine)
        try FileManager.default.removeItem(atPath: extensions + "/com.example.x.searchext")
        #expect(await engine.refreshExtensions().removed == ["com.example.x"])
        var left = try await service.service.scheduling.schedule(of: nil).jobs
        while !left.isEmpty { left = try await service.service.scheduling.schedule(of: nil).jobs }
        await service.stop()
    }

    @Test("An extension that the user disables gets no requests; after it is enabled and released it does at once")
    func freed() async throws {
        let clock = ManualClock()
        try PlainBundle("com.example.x", in: extensions)
        let service = try await service { move(&$0, by: clock) }
        #expect(try await failed(1, service))
        let engine = try #require(service.service.engine)
        try await engine.setEnabled(false, "com.example.x")
        // The schedule notices the change a little later. A job that starts before that fails once
        // more.
        let isRefused = try await eventually {
            let report = try await service.service.scheduling.schedule(of: nil)
            return report.jobs.first?.job?.refusal == .disabled
        }
        #expect(isRefused)
        clock.advance(by: .seconds(31))
        #expect(try await service.service.scheduling.schedule(of: nil).jobs.first?.job?.refusal == .disabled)
        #expect(service.lines.all.count { $0.contains("pending reindex of com.example.x failed") } == 1)
        try await engine.setEnabled(true, "com.example.x")
        #expect(try await failed(2, service))
        // The back-off after two failures has ended too, except for the half minute that follows
        // any failure.
        _ = try await engine.releaseExtension("com.example.x")
        clock.advance(by: .seconds(30))
        #expect(try await failed(3, service))
        await service.stop()
    }

    @Test("A reindex that failed before the start of the service is repeated when its wait is over")
    func triedAgainAfterRestart() async throws {
        let clock = ManualClock()
        try PlainBundle("com.example.x", in: extensions)
        let start = clock.now
        let first = try await service {
            move(&$0, by: clock)
            $0.engine.now = { 800_000_000 + (clock.now - start) / .seconds(1) }
        }
        #expect(try await failed(1, first))
        await first.stop()
        let second = try await service {
            move(&$0, by: clock)
            $0.engine.now = { 800_000_000 + (clock.now - start) / .seconds(1) }
        }
        #expect(try await failed(0, second))
        clock.advance(by: .seconds(30))
        #expect(try await failed(1, second))
        await second.stop()
    }

    @Test("No work is left once the changes were examined")
    func rests() async throws {
        try PlainBundle("com.example.x", in: extensions)
        let service = try await service()
        #expect(
            await eventually { service.lines.contains("The pending reindex of") && service.service.load.requests == 0 })
        #expect(service.service.watchedDirectories == 2)
        await service.stop()
    }
}
