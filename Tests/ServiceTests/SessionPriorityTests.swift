// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Priority of the service", .timeLimit(.minutes(10)))
struct SessionPriorityTests {
    /// Records the calls to the kernel, and determines whether they succeed.
    private final class Kernel: Sendable {
        private let state = Mutex<(told: [Bool], refusals: Int, indexing: Bool)>(([], 0, false))
        var told: [Bool] { state.withLock { $0.told } }
        var isIndexing: Bool {
            get { state.withLock { $0.indexing } }
            set { state.withLock { $0.indexing = newValue } }
        }
        func refuse(_ count: Int) { state.withLock { $0.refusals = count } }
        func set(_ isYielding: Bool) -> Bool {
            state.withLock { state in
                guard state.refusals == 0 else {
                    state.refusals -= 1
                    return false
                }
                state.told.append(isYielding)
                return true
            }
        }
    }
    private let clock = ManualClock()
    private let kernel = Kernel()
    private let priority: SessionPriority

    init() {
        let kernel = kernel
        priority = SessionPriority(clock: clock, set: kernel.set) { kernel.isIndexing }
    }

    private func pass(_ time: Duration) async {
        await clock.waitForSleepers()
        clock.advance(by: time)
    }

    @Test("It is low during background work, and normal a moment later")
    func works() async {
        priority.noteWork(true)
        #expect(kernel.told == [true])
        priority.noteWork(true)
        priority.noteWork(false)
        #expect(kernel.told == [true])
        await pass(SessionPriority.aftermath)
        #expect(await eventually { kernel.told == [true, false] && clock.sleeperCount == 0 })
        // Work that resumes immediately keeps the lower priority.
        priority.noteWork(true)
        priority.noteWork(false)
        priority.noteWork(true)
        #expect(await eventually { clock.sleeperCount == 0 })
        #expect(kernel.told == [true, false, true])
    }

    @Test("After its work it stays low until running work is indexed, but not indefinitely", arguments: [3, 1000])
    func indexing(seconds: Int) async {
        priority.noteWork(true)
        kernel.isIndexing = true
        priority.noteWork(false)
        for second in 1...min(seconds, SessionPriority.looks) {
            // The check has run, and waits for its next time.
            await clock.waitForSleepers()
            #expect(kernel.told == [true], "after \(second - 1) s")
            if second == seconds { kernel.isIndexing = false }
            clock.advance(by: SessionPriority.aftermath)
        }
        #expect(await eventually { kernel.told == [true, false] && clock.sleeperCount == 0 })
    }

    @Test("A client that connects at that time does not wait for it")
    func clientInTheAftermath() async {
        priority.noteWork(true)
        priority.noteWork(false)
        priority.noteClients(true)
        #expect(kernel.told == [true, false])
        priority.noteClients(false)
        #expect(await eventually { clock.sleeperCount == 0 })
        #expect(kernel.told == [true, false])
    }

    @Test("A client that waits raises it at once, and it is low again a moment after the last one")
    func clients() async {
        priority.noteWork(true)
        #expect(kernel.told == [true])
        priority.noteClients(true)
        #expect(kernel.told == [true, false])
        priority.noteClients(false)
        priority.noteClients(true)
        #expect(await eventually { clock.sleeperCount == 0 })
        priority.noteClients(false)
        await pass(SessionPriority.patience)
        #expect(await eventually { kernel.told == [true, false, true] })
    }

    @Test("A change that the kernel rejects is repeated with the latest value")
    func refused() async {
        kernel.refuse(1)
        priority.noteWork(true)
        #expect(kernel.told.isEmpty)
        await pass(SessionPriority.retryPause)
        #expect(await eventually { kernel.told == [true] })
        kernel.refuse(1)
        priority.noteWork(false)
        await pass(SessionPriority.aftermath)
        #expect(kernel.told == [true])
        await pass(SessionPriority.retryPause)
        #expect(await eventually { kernel.told == [true, false] })
    }

    @Test("Requests of clients are distinguished from the service's own")
    func askers() {
        let activity = ServiceActivity {}
        let told = Mutex<[Bool]>([])
        let own = activity.beginRequest(of: .service)
        activity.followClients { isWaiting in told.withLock { $0.append(isWaiting) } }
        #expect(told.withLock { $0 } == [])
        let (first, second) = (activity.beginRequest(), activity.beginRequest())
        first.end()
        #expect(told.withLock { $0 } == [true])
        second.end()
        own.end()
        #expect(told.withLock { $0 } == [true, false] && activity.now.requests == 0)
    }
}
