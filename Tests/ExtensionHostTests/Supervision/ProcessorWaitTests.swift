// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import ExtensionHost

@Suite("A late worker")
struct ProcessorWaitTests {
    private static let second: UInt64 = 1_000_000_000

    private func isStarved(waited: UInt64, used: UInt64, of seconds: UInt64 = 5) -> Bool {
        let before = ProcessorWait.Sample(moment: 7, used: 100, waited: 50)
        return ProcessorWait.Sample(
            moment: 7 + seconds * Self.second, used: 100 + used * Self.second / 1000,
            waited: 50 + waited * Self.second / 1000
        ).isStarved(since: before)
    }

    @Test("without processor time differs from an idle one, and from one that uses all its time")
    func judged() {
        #expect(isStarved(waited: 4900, used: 100))
        #expect(isStarved(waited: 2500, used: 1250))
        #expect(!isStarved(waited: 0, used: 0))
        #expect(!isStarved(waited: 2499, used: 0))
        // Sixteen busy threads on two processors.
        #expect(!isStarved(waited: 70_000, used: 10_000))
        #expect(!isStarved(waited: 2600, used: 2400))
        #expect(!isStarved(waited: 0, used: 0, of: 0))
    }

    @Test(
        "that has not run yet differs from one that polls, one that sleeps, and one that just woke up"
    )
    func waitsStill() {
        let before = ProcessorWait.Sample(moment: 7, used: 100, waited: 50, turns: 3, isReady: true)
        func sample(turns: UInt64, isReady: Bool, used: UInt64 = 0) -> ProcessorWait.Sample {
            ProcessorWait.Sample(
                moment: 7 + 5 * Self.second, used: 100 + used, waited: 50, turns: 3 + turns, isReady: isReady)
        }
        // The kernel accounts a wait only when the wait ends.
        #expect(sample(turns: 0, isReady: true).mayWait(since: before))
        #expect(sample(turns: 4, isReady: true, used: Self.second / 10).mayWait(since: before))
        #expect(!sample(turns: 0, isReady: false).mayWait(since: before))
        #expect(!sample(turns: 5000, isReady: true).mayWait(since: before))
        #expect(!sample(turns: 4, isReady: true, used: 4 * Self.second).mayWait(since: before))
        // A moment later.
        let first = sample(turns: 4, isReady: true)
        #expect(sample(turns: 4, isReady: true).waits(since: first))
        #expect(!sample(turns: 5, isReady: true).waits(since: first))
        #expect(!sample(turns: 4, isReady: true, used: 9).waits(since: first))
        #expect(!sample(turns: 4, isReady: false).waits(since: first))
    }

    @Test(
        "with ended threads or invalid clocks does not count as one without a processor"
    )
    func lessThanBefore() {
        let before = ProcessorWait.Sample(moment: 10, used: 100, waited: 100)
        #expect(!ProcessorWait.Sample(moment: 5, used: 100, waited: 200).isStarved(since: before))
        #expect(!ProcessorWait.Sample(moment: 20, used: 100, waited: 50).isStarved(since: before))
        #expect(!ProcessorWait.Sample(moment: 20, used: 50, waited: 200).isStarved(since: before))
    }

    @Test("is judged by the kernel's counters of its threads")
    func counted() throws {
        let sample = try #require(ProcessorWait.Sample(of: getpid()))
        #expect(sample.used > 0 && sample.moment > 0 && sample.turns > 0)
        // The requesting thread is running.
        #expect(sample.isReady)
        #expect(ProcessorWait.Sample(of: -1) == nil)
    }
}
