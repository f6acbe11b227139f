// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import BusTransport
import Foundation
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The workers of a host", .timeLimit(.minutes(10)))
struct WorkerPoolTests {
    /// Accepts no donations, because there is no program to start.
    private struct NoReceiver: DonationReceiver {
        func receive(_ batch: IndexBatch) async throws(BusError) {}
        func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }
        func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] { [] }
        func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
            RecordReply(record: nil)
        }
    }

    @Test("A worker of an old version of a bundle is not used for the new version")
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let old = try ExtensionBundle(at: try PlainBundle("com.example.x", in: folder.path).path)
        let new = try ExtensionBundle(at: try PlainBundle("com.example.x", in: folder.path, version: "2").path)
        let pool = WorkerPool(
            WorkerConfiguration(workerPath: folder.path + "/none", frameworkFolder: nil, environment: [:]),
            receiver: NoReceiver(), onEvent: { _ in }, onWork: { () }, onFailure: { _, _ in })
        let first = try await pool.lease(old, .person)
        let second = try await pool.lease(new, .person)
        #expect(first.number != second.number)
        #expect(await pool.count == 2)
        await pool.giveBack(first, isUsable: true)
        #expect(await pool.count == 1)
        let third = try await pool.lease(new, .person)
        #expect(third.number == second.number)
        await pool.shutdown()
        #expect(await pool.count == 0)
    }

    @Test("A worker that is being loaded does not delay a caller that releases the bundle")
    func loading() async throws {
        let folder = try TemporaryFolder()
        let program = folder.path + "/silent"
        try Data("#!/bin/sh\nexec sleep 100\n".utf8).write(to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let pool = WorkerPool(
            WorkerConfiguration(workerPath: program, frameworkFolder: nil, environment: [:], clock: ManualClock()),
            receiver: NoReceiver(), onEvent: { _ in }, onWork: { () }, onFailure: { _, _ in })
        let bundle = try Self.bundle("slow", in: folder)
        let lease = try await pool.lease(bundle, .background)
        #expect(await pool.backgroundWorkers(of: bundle.identifier).isEmpty)
        await pool.endBackground(bundle.identifier)
        await pool.giveBack(lease, isUsable: false)
        await pool.shutdown()
    }

    /// Returns a pool with two slots, one of them reserved for the user's requests. No worker can
    /// be started.
    private static func pool(
        in folder: TemporaryFolder, clock: any Clock<Duration> = ContinuousClock(), place: Duration = .seconds(3600),
        onFailure: @escaping @Sendable (ExtensionBundle, ExtensionError) async -> Void = { _, _ in }
    ) -> WorkerPool {
        var limits = WorkerConfiguration.Limits()
        (limits.workers, limits.reserve, limits.place, limits.backgroundWorkers) = (1, 1, place, 1)
        return WorkerPool(
            WorkerConfiguration(
                workerPath: folder.path + "/none", frameworkFolder: nil, environment: [:], limits: limits, clock: clock),
            receiver: NoReceiver(), onEvent: { _ in }, onWork: { () }, onFailure: onFailure)
    }

    private static func bundle(_ name: String, in folder: TemporaryFolder) throws -> ExtensionBundle {
        try ExtensionBundle(at: try PlainBundle("com.example.\(name)", in: folder.path).path)
    }

    @Test("If all workers are in use, the user waits for the first free one, and no other caller does")
    func waitForPlace() async throws {
        let folder = try TemporaryFolder()
        let pool = Self.pool(in: folder)
        let a = try await pool.lease(try Self.bundle("a", in: folder), .person)
        let b = try await pool.lease(try Self.bundle("b", in: folder), .person)
        let third = try Self.bundle("c", in: folder)
        // Slots for the user's requests are not counted for background work, and vice versa.
        let background = try await pool.lease(third, .background)
        let fourth = try Self.bundle("d", in: folder)
        await #expect(throws: ExtensionError.self) { try await pool.lease(fourth, .background) }
        let waiting = Task { try await pool.lease(third, .person) }
        while await pool.waitingCount == 0 { await Task.yield() }
        #expect(await pool.count == 3)
        await pool.giveBack(background, isUsable: false)
        #expect(await pool.waitingCount == 1)
        await pool.giveBack(a, isUsable: true)
        let c = try await waiting.value
        #expect(await pool.count == 2)
        await pool.giveBack(b, isUsable: false)
        await pool.giveBack(c, isUsable: false)
        #expect(await pool.count == 0)
        await pool.shutdown()
    }

    @Test("A waiting caller keeps its position while an idle worker is ended for it, and when an earlier one gives up")
    func inTurn() async throws {
        let folder = try TemporaryFolder()
        // The first worker keeps terminating until it is released.
        let (goingOn, go) = AsyncStream.makeStream(of: Void.self)
        let pool = Self.pool(in: folder) { bundle, _ in
            if bundle.identifier == "com.example.a" { for await _ in goingOn {} }
        }
        let a = try await pool.lease(try Self.bundle("a", in: folder), .person)
        let b = try await pool.lease(try Self.bundle("b", in: folder), .person)
        let (c, d, e) = (
            try Self.bundle("c", in: folder), try Self.bundle("d", in: folder), try Self.bundle("e", in: folder)
        )
        let first = Task { try await pool.lease(c, .person) }
        while await pool.waitingCount == 0 { await Task.yield() }
        await pool.giveBack(a, isUsable: true)
        // The request terminates the idle worker to get its slot, and no other request takes the
        // slot.
        while await pool.count == 2 { await Task.yield() }
        let second = Task { try await pool.lease(d, .person) }
        // A waiter checks again after each change, and is not counted during the check.
        while await pool.waitingCount != 1, await pool.count == 1 { await Task.yield() }
        #expect(await pool.count == 1)
        let third = Task { try await pool.lease(e, .person) }
        while await pool.waitingCount == 1 { await Task.yield() }
        go.finish()
        let one = try await first.value
        #expect(await pool.count == 2)
        second.cancel()
        await #expect(throws: ExtensionError.self) { try await second.value }
        await pool.giveBack(b, isUsable: false)
        let last = try await third.value
        #expect(await pool.waitingCount == 0)
        await pool.giveBack(one, isUsable: false)
        await pool.giveBack(last, isUsable: false)
        #expect(await pool.count == 0)
        await pool.shutdown()
    }

    @Test("A user's wait ends with an error after a while, at once when cancelled, and when the host shuts down")
    func waitInVain() async throws {
        let folder = try TemporaryFolder()
        let hurried = Self.pool(in: folder, clock: HurriedClock(), place: .seconds(5))
        let patient = Self.pool(in: folder)
        let bundles = try ["a", "b", "c"].map { try Self.bundle($0, in: folder) }
        for pool in [hurried, patient] {
            for bundle in bundles.prefix(2) { _ = try await pool.lease(bundle, .person) }
        }
        do throws(ExtensionError) {
            _ = try await hurried.lease(bundles[2], .person)
            Issue.record("there was a place")
        } catch {
            guard case .workerUnavailable = error else { throw error }
        }
        let cancelled = Task { try await patient.lease(bundles[2], .person) }
        while await patient.waitingCount == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: ExtensionError.self) { try await cancelled.value }
        let left = Task { try await patient.lease(bundles[2], .person) }
        while await patient.waitingCount == 0 { await Task.yield() }
        await patient.shutdown()
        await #expect(throws: ExtensionError.self) { try await left.value }
        await hurried.shutdown()
    }
}

/// A clock without waits: a sleeper wakes immediately, with its deadline as the time.
private final class HurriedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let time = Mutex(ContinuousClock.now)
    var now: Instant { time.withLock { $0 } }
    let minimumResolution = Duration.zero

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        time.withLock { $0 = max($0, deadline) }
        try Task.checkCancellation()
    }
}
