// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Throttled work")
struct CooperativeThrottleTests {
    @Test("takes breaks while others want a processor, and none while a caller waits for it")
    func breaks() {
        let clock = ManualClock()
        let breaks = Mutex(0)
        let isContended = Atomic(true)
        let looks = Atomic(0)
        let pace = CooperativeThrottle(
            now: { [clock] in clock.now },
            isContended: {
                looks.add(1, ordering: .relaxed)
                return isContended.load(ordering: .relaxed)
            },
            pause: { breaks.withLock { $0 += 1 } })
        func work(_ steps: Int) -> Int {
            breaks.withLock { $0 = 0 }
            for _ in 0..<steps {
                clock.advance(by: .milliseconds(1))
                pace.step()
            }
            return breaks.withLock { $0 }
        }
        #expect(work(100) == 0)
        pace.set(true)
        #expect((9...11).contains(work(100)))
        isContended.store(false, ordering: .relaxed)
        looks.store(0, ordering: .relaxed)
        #expect(work(100) == 0)
        #expect((9...11).contains(looks.load(ordering: .relaxed)))
        isContended.store(true, ordering: .relaxed)
        #expect((9...11).contains(work(100)))
        pace.set(false)
        #expect(work(100) == 0)
    }
}
