// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Memory that an idle daemon frees", .timeLimit(.minutes(10)))
final class IdleReclaimerTests: Sendable {
    private final class Monitor: Suspendable {
        private let state = Mutex<(calls: [String], failures: Int)>(([], 0))
        var calls: [String] { state.withLock { $0.calls } }
        func fail(_ count: Int) { state.withLock { $0.failures = count } }
        func suspend() -> Bool {
            state.withLock { state in
                state.calls.append("suspend")
                defer { state.failures = max(0, state.failures - 1) }
                return state.failures == 0
            }
        }
        func resume() { state.withLock { $0.calls.append("resume") } }
    }
    private let clock = ManualClock()
    private let monitor = Monitor()
    private let load = Mutex(ServiceActivity.Load())
    private let releases = Mutex(0)

    private func reclaimer() -> IdleReclaimer {
        IdleReclaimer(clock: clock, monitor: monitor, activity: { self.load.withLock { $0 } }) {
            self.releases.withLock { $0 += 1 }
        }
    }

    private func pass(_ time: Duration) async {
        await clock.waitForSleepers()
        clock.advance(by: time)
    }

    private func set(_ requests: Int) {
        load.withLock { load in
            load.total += UInt64(requests)
            load.requests = requests
        }
    }

    @Test("It releases memory after a pause, suspends the monitor after another, and a request resumes it")
    func idle() async {
        let reclaimer = reclaimer()
        reclaimer.update()
        await pass(IdleReclaimer.pause)
        #expect(await eventually { releases.withLock { $0 } == 1 })
        #expect(monitor.calls.isEmpty)
        await pass(IdleReclaimer.pause)
        #expect(await eventually { monitor.calls == ["suspend"] })
        set(1)
        reclaimer.update()
        #expect(monitor.calls == ["suspend", "resume"])
        set(0)
        reclaimer.update()
        await pass(IdleReclaimer.pause)
        await pass(IdleReclaimer.pause)
        #expect(await eventually { monitor.calls == ["suspend", "resume", "suspend"] })
        reclaimer.end()
        #expect(await eventually { clock.sleeperCount == 0 })
        #expect(monitor.calls.last == "resume")
    }

    @Test("A request that ended before the end of the pause restarts it")
    func busy() async {
        let reclaimer = reclaimer()
        reclaimer.update()
        for _ in 0..<3 {
            await clock.waitForSleepers()
            set(1)
            reclaimer.update()
            set(0)
            reclaimer.update()
            clock.advance(by: IdleReclaimer.pause)
        }
        await clock.waitForSleepers()
        #expect(releases.withLock { $0 } == 0 && monitor.calls.isEmpty)
        reclaimer.end()
    }

    @Test("It suspends the monitor again after libdispatch resumed it, at growing intervals")
    func checks() async {
        let reclaimer = reclaimer()
        monitor.fail(1)
        reclaimer.update()
        for pause in [3, 3, 3, 5, 300] { await pass(.seconds(pause)) }
        #expect(await eventually { monitor.calls.count == 4 })
        await clock.waitForSleepers()
        clock.advance(by: .seconds(17_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(monitor.calls.count == 4)
        clock.advance(by: .seconds(1))
        #expect(await eventually { monitor.calls.count == 5 })
        reclaimer.end()
    }
}
