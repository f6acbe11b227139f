// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("Kept workers")
struct WorkerPoolStateTests {
    @Test("The least recently used worker goes first, and none that is in use")
    func leastRecentlyUsed() {
        var shelf = WorkerPoolState<String>()
        let numbers = ["a", "b", "c"].map { shelf.add("worker \($0)", $0, now: .zero) }
        #expect(shelf.takeLeastRecentlyUsed() == nil)
        for number in numbers { #expect(shelf.end(number, now: .zero) == nil) }
        let used = shelf.begin("a")
        #expect(used?.worker == "worker a")
        #expect(shelf.end(used?.number ?? 0, now: .zero) == nil)
        #expect(shelf.begin("b") != nil)
        #expect(shelf.takeLeastRecentlyUsed() == "worker c")
        #expect(shelf.takeLeastRecentlyUsed() == "worker a")
        #expect(shelf.takeLeastRecentlyUsed() == nil)
        #expect(shelf.count == 1)
    }

    @Test("An idle worker is ended after a while; each use restarts that time")
    func linger() {
        var shelf = WorkerPoolState<String>()
        let first = shelf.add("a", "a", now: .zero)
        #expect(shelf.nextDeadline(.seconds(30)) == nil)
        _ = shelf.end(first, now: .seconds(1))
        let second = shelf.add("b", "b", now: .seconds(1))
        _ = shelf.end(second, now: .seconds(5))
        #expect(shelf.nextDeadline(.seconds(30)) == .seconds(31))
        _ = shelf.end(shelf.begin("a")?.number ?? 0, now: .seconds(20))
        #expect(shelf.takeIdle(for: .seconds(30), now: .seconds(34)).isEmpty)
        #expect(shelf.takeIdle(for: .seconds(30), now: .seconds(35)) == ["b"])
        #expect(shelf.nextDeadline(.seconds(30)) == .seconds(50))
    }

    @Test("A replaced worker completes its request beside its successor")
    func retired() {
        var shelf = WorkerPoolState<String>()
        let old = shelf.add("old", "a", now: .zero)
        #expect(shelf.retire("a") == nil)
        #expect(shelf.begin("a") == nil)
        let new = shelf.add("new", "a", now: .zero)
        #expect(shelf.count == 2 && shelf["a"] == "new")
        #expect(shelf.end(old, now: .zero) == "old")
        #expect(shelf["a"] == "new")
        #expect(shelf.end(new, now: .zero) == nil)
        #expect(shelf.retire("a") == "new" && shelf.count == 0)
        #expect(shelf.end(new, now: .zero) == nil)
    }

    @Test("In any sequence each worker is returned once, and never while it is used")
    func anything() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var shelf = WorkerPoolState<Int>()
            var added = 0
            var uses: [(number: UInt64, worker: Int)] = []
            var ended: Set<Int> = []
            func end(_ workers: [Int]) {
                for worker in workers {
                    #expect(ended.insert(worker).inserted, "seed \(seed): ended twice")
                    #expect(!uses.contains { $0.worker == worker }, "seed \(seed): ended in use")
                }
            }
            for step in 0..<200 {
                let now = Duration.seconds(step)
                let name = random.pick(["a", "b", "c", "d"])
                switch random.below(6) {
                case 0, 1:
                    if let used = shelf.begin(name) {
                        uses.append((used.number, used.worker))
                    } else {
                        uses.append((shelf.add(added, name, now: now), added))
                        added += 1
                    }
                case 2:
                    guard !uses.isEmpty else { continue }
                    let use = uses.remove(at: random.below(uses.count))
                    end([shelf.end(use.number, now: now)].compactMap { $0 })
                case 3: end([shelf.retire(name)].compactMap { $0 })
                case 4: end(shelf.takeIdle(for: .seconds(10), now: now))
                default: end([shelf.takeLeastRecentlyUsed()].compactMap { $0 })
                }
                #expect(shelf.count == added - ended.count, "seed \(seed)")
            }
            uses = []
            end(shelf.takeAll())
            #expect(ended.count == added && shelf.count == 0, "seed \(seed)")
        }
    }
}
