// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import ExtensionHost

/// A clock that never advances, and reports sleepers.
private final class StillClock: Clock {
    typealias Instant = ContinuousClock.Instant
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero
    private let sleeping: AsyncStream<Duration>.Continuation
    /// The duration of each sleep, reported when the sleep starts.
    let sleeps: AsyncStream<Duration>

    init() { (sleeps, sleeping) = AsyncStream.makeStream(of: Duration.self) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleeping.yield(deadline - now)
        // Runs until it is cancelled.
        let (never, kept) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        kept.finish()
        try Task.checkCancellation()
    }
}

@Suite("Watchdogs", .timeLimit(.minutes(10)))
struct WatchdogTests {
    private static func limit(_ seconds: Int) -> RequestLimit {
        RequestLimit(first: .seconds(seconds), idle: .seconds(seconds), total: .seconds(100))
    }

    @Test("A watchdog that is stopped early never uses the clock; others use it after their limit")
    func shortCalls() async throws {
        let clock = StillClock()
        for number in 0..<100 {
            Watchdog(Self.limit(10 + number), clock: clock, progress: WorkerProgress()) { _ in }.stop()
        }
        let watchdog = Watchdog(Self.limit(5), clock: clock, progress: WorkerProgress()) { _ in }
        var sleeps = clock.sleeps.makeAsyncIterator()
        #expect(await sleeps.next() == .seconds(5))
        watchdog.stop()
    }

    @Test("Each running watchdog starts, whenever it was created")
    func longCalls() async throws {
        let clock = StillClock()
        var sleeps = clock.sleeps.makeAsyncIterator()
        var seen: [Duration] = []
        var watchdogs: [Watchdog] = []
        for round in 1...3 {
            for number in 1...5 {
                watchdogs.append(
                    Watchdog(Self.limit(round * 10 + number), clock: clock, progress: WorkerProgress()) { _ in })
            }
            for _ in 1...5 { if let sleep = await sleeps.next() { seen.append(sleep) } }
        }
        let expected: [Duration] = [11, 12, 13, 14, 15, 21, 22, 23, 24, 25, 31, 32, 33, 34, 35].map { .seconds($0) }
        #expect(seen.sorted() == expected)
        for watchdog in watchdogs { watchdog.stop() }
    }

    @Test("A sign of life during the check for processor time counts")
    func progressDuringCheck() async throws {
        let progress = WorkerProgress()
        let checks = Mutex(0)
        let limit: Duration = await withCheckedContinuation { continuation in
            let watchdog = Watchdog(
                RequestLimit(first: .milliseconds(1), idle: .milliseconds(2), total: .seconds(100)),
                clock: ContinuousClock(), progress: progress,
                isStarved: {
                    checks.withLock { checks in
                        checks += 1
                        if checks == 1 { progress.note() }
                    }
                    return false
                },
                onExpiry: { continuation.resume(returning: $0) })
            watchdog.run()
        }
        #expect(limit == .milliseconds(2) && checks.withLock { $0 } == 2)
    }

    @Test("A watchdog that is stopped while it counts does not act")
    func stoppedLater() async throws {
        let clock = StillClock()
        let expired = Mutex(false)
        let watchdog = Watchdog(Self.limit(5), clock: clock, progress: WorkerProgress()) { _ in
            expired.withLock { $0 = true }
        }
        var sleeps = clock.sleeps.makeAsyncIterator()
        _ = await sleeps.next()
        watchdog.stop()
        #expect(watchdog.isStopped)
        #expect(!expired.withLock { $0 })
    }
}
