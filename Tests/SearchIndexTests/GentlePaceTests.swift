// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Work that is gentle")
struct GentlePaceTests {
    @Test("takes a break after each stretch while others want a processor, and none while somebody waits for it")
    func breaks() {
        let clock = ManualClock()
        let breaks = Mutex(0)
        let isContended = Atomic(true)
        let looks = Atomic(0)
        let pace = GentlePace(
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

    @Test(
        "sees that others wait where more threads can run than there are processors, and takes it for granted where it is not told",
        arguments: [
            ("0.52 0.58 0.59 3/467 12345\n", true), ("0.52 0.58 0.59 2/467 12345\n", false),
            ("9.00 9.00 9.00 1/467 12345\n", false), ("0.52 0.58\n", true), ("0.52 0.58 0.59 many/467 1\n", true),
            ("", true), (nil, true),
        ])
    func contention(told: String?, isPresent: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/loadavg"
        try told?.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(ProcessorContention(path: path, processors: 2).isPresent == isPresent)
    }

    @Test("reads what the kernel tells")
    func kernel() {
        #expect(ProcessorContention(processors: 0).isPresent)
        #expect(!ProcessorContention(processors: .max).isPresent)
    }
}
