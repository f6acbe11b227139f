// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdleScheduling
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// The thread that waits for timers and for work at the same time.
@Suite("The event loop", .timeLimit(.minutes(10)))
struct EventLoopTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop(name: "loop-test") }

    @Test("Tasks that prefer it run on it, one at a time, with any continuation")
    func tasks() async {
        let numbers = Mutex<Set<pthread_t>>([])
        let (stream, inputs) = AsyncStream.makeStream(of: Int.self)
        let sum = Task(executorPreference: loop) {
            var sum = 0
            for await input in stream {
                sum += input
                numbers.withLock { _ = $0.insert(pthread_self()) }
            }
            return sum
        }
        await withTaskGroup(of: Void.self) { group in
            for input in 1...100 { group.addTask { inputs.yield(input) } }
        }
        inputs.finish()
        #expect(await sum.value == 5050)
        #expect(numbers.withLock { $0.count } == 1)
        loop.end()
    }

    @Test("A sleeping task wakes at its time, and not before")
    func sleeps() async throws {
        let start = ContinuousClock.now
        let sleeps = [30, 10, 20, 0, -10].map { milliseconds in
            Task(executorPreference: loop) { [loop] in
                let moment = start + .milliseconds(milliseconds)
                try await loop.clock.sleep(until: moment, tolerance: nil)
                return ContinuousClock.now >= moment
            }
        }
        for sleep in sleeps { #expect(try await sleep.value) }
        loop.end()
    }

    @Test("A cancelled sleep ends at once, before its start, during it and at its end")
    func cancelled() async {
        for pause in [Duration.seconds(1000), .zero, .microseconds(200)] {
            for round in 0..<50 {
                let sleep = Task(executorPreference: round.isMultiple(of: 2) ? loop : nil) { [loop] in
                    try await loop.clock.sleep(for: pause)
                }
                for _ in 0..<round { await Task.yield() }
                sleep.cancel()
                let result = await sleep.result
                if pause > .seconds(1) { #expect(throws: CancellationError.self) { try result.get() } }
            }
        }
        loop.end()
    }

    @Test("After its end, remaining work runs elsewhere, and no task can sleep on it")
    func ended() async {
        loop.end()
        while loop.isRunning { await Task.yield() }
        let last = Task(executorPreference: loop) { [loop] in
            try await loop.clock.sleep(for: .seconds(1000))
        }
        let result = await last.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("It ends only when no task sleeps on it")
    func endsLast() async {
        let sleep = Task(executorPreference: loop) { [loop] in
            try await loop.clock.sleep(for: .seconds(1000))
        }
        loop.end()
        sleep.cancel()
        _ = await sleep.result
        while loop.isRunning { await Task.yield() }
    }
}
