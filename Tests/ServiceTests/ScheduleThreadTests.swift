// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdleScheduling
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// The thread that waits for the time and for work at once.
@Suite("The thread of the schedule", .timeLimit(.minutes(10)))
struct ScheduleThreadTests {
    private let thread: ScheduleThread

    init() throws { thread = try #require(ScheduleThread(name: "schedule-test")) }

    @Test("What prefers it runs on it, one thing at a time, whoever goes on with it")
    func tasks() async {
        let numbers = Mutex<Set<pthread_t>>([])
        let (stream, inputs) = AsyncStream.makeStream(of: Int.self)
        let sum = Task(executorPreference: thread) {
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
        thread.end()
    }

    @Test("Who sleeps wakes at the moment, and not before")
    func sleeps() async throws {
        let start = ContinuousClock.now
        let sleeps = [30, 10, 20, 0, -10].map { milliseconds in
            Task(executorPreference: thread) { [thread] in
                let moment = start + .milliseconds(milliseconds)
                try await thread.sleep(until: moment)
                return ContinuousClock.now >= moment
            }
        }
        for sleep in sleeps { #expect(try await sleep.value) }
        thread.end()
    }

    @Test("A sleep that is given up ends at once, before it began, while it lasts and just when it is over")
    func cancelled() async {
        for pause in [Duration.seconds(1000), .zero, .microseconds(200)] {
            for round in 0..<50 {
                let sleep = Task(executorPreference: round.isMultiple(of: 2) ? thread : nil) { [thread] in
                    try await ScheduleClock(thread: thread).sleep(for: pause)
                }
                for _ in 0..<round { await Task.yield() }
                sleep.cancel()
                let result = await sleep.result
                if pause > .seconds(1) { #expect(throws: CancellationError.self) { try result.get() } }
            }
        }
        thread.end()
    }

    @Test("Once it has ended, what is left runs elsewhere, and nobody can sleep on it any more")
    func ended() async {
        thread.end()
        while thread.isThere { await Task.yield() }
        let last = Task(executorPreference: thread) { [thread] in
            try await ScheduleClock(thread: thread).sleep(for: .seconds(1000))
        }
        let result = await last.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test("It ends only when nobody sleeps on it any more")
    func endsLast() async {
        let sleep = Task(executorPreference: thread) { [thread] in
            try await ScheduleClock(thread: thread).sleep(for: .seconds(1000))
        }
        thread.end()
        sleep.cancel()
        _ = await sleep.result
        while thread.isThere { await Task.yield() }
    }
}
