// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Work that is gentle")
struct GentlePaceTests {
    @Test("takes a break after each stretch, and none while somebody waits")
    func breaks() {
        let clock = ManualClock()
        let breaks = Mutex(0)
        let pace = GentlePace(now: { [clock] in clock.now }) { breaks.withLock { $0 += 1 } }
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
        pace.set(false)
        #expect(work(100) == 0)
    }
}
