// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@Suite("The queue of pending jobs")
struct JobQueueTests {
    private static func job(_ bundle: String = "a", _ items: Set<String>? = nil, at moment: Double = 0) -> Job {
        Job(bundle: bundle, work: items.map(Job.Work.reindexItems) ?? .reindexAll, requested: moment)
    }

    /// Returns the user's view of a queue: bundles, work and times.
    private static func visible(_ queue: JobQueue) -> [String] {
        queue.jobs.map { "\($0.bundle) \($0.requested) \(text($0.work))" }
    }

    private static func text(_ work: Job.Work) -> String {
        switch work {
        case .reindexAll: "all"
        case .reindexItems(let items): items.sorted().joined(separator: ",")
        }
    }

    private static func random(_ random: inout SplitMix64) -> Job {
        let items = Set((0..<(1 + random.below(3))).map { _ in "i\(random.below(6))" })
        return job(random.pick(["a", "b", "c"]), random.below(4) == 0 ? nil : items, at: Double(random.below(20)))
    }

    @Test("A cursor belongs to a reindex of everything, and is dropped by new requests and by failures")
    func places() throws {
        var place = ReindexPlace(
            cursor: Data([1]), pages: 1, began: 0, replacement: 1, generation: 1, fingerprint: "")
        var queue = JobQueue()
        queue.setPlace(place, of: "a")
        queue.add(Self.job("a", ["x"]))
        queue.setPlace(place, of: "a")
        #expect(queue["a"]?.place == nil)
        place.request = queue.add(Self.job("a")).request
        queue.setPlace(place, of: "a")
        // A repeated request for a full reindex is satisfied by a reindex in progress.
        let begun = queue.add(Self.job("a"))
        #expect(begun.place == place)
        queue.add(Self.job("a", ["y"]))
        queue.complete(begun)
        #expect(queue["a"]?.work == .reindexItems(["y"]) && queue["a"]?.place == nil)

        queue.add(Self.job("b"))
        queue.setPlace(place, of: "b")
        for failures in 1..<ReindexPlace.maximumFailures {
            queue.failPage(of: "b", isFinal: false)
            #expect(queue["b"]?.place?.failures == failures)
        }
        queue.failPage(of: "b", isFinal: false)
        #expect(queue["b"]?.place == nil)
        queue.setPlace(place, of: "b")
        queue.failPage(of: "b", isFinal: true)
        #expect(queue["b"]?.place == nil)
        queue.failPage(of: "b", isFinal: true)
        queue.failPage(of: "c", isFinal: true)
    }

    @Test("More items than the limit become a reindex of everything, and equal items are counted once")
    func manyItems() throws {
        var queue = JobQueue()
        let most = Set((0..<JobQueue.maximumItems).map { "item \($0)" })
        queue.add(Self.job("a", most))
        queue.add(Self.job("a", most))
        #expect(queue["a"]?.work == .reindexItems(most))
        let begun = try #require(queue["a"])
        queue.add(Self.job("a", ["one more"]))
        #expect(queue["a"]?.work == .reindexAll)
        // A job that started earlier does not include that request.
        queue.complete(begun)
        #expect(queue["a"]?.work == .reindexAll)
        // The same if a full reindex is pending too.
        let everything = try #require(queue["a"])
        for number in 0..<3 { queue.add(Self.job("a", Set(most.map { "\(number) \($0)" }))) }
        queue.complete(everything)
        #expect(queue["a"]?.work == .reindexAll)
        queue.add(Self.job("b", most.union(["one more"])))
        #expect(queue["b"]?.work == .reindexAll)
        queue.remove(bundle: "a")
        #expect(queue.jobs.map(\.bundle) == ["b"])
    }

    @Test("Items of one bundle are merged, and a reindex of everything includes them")
    func absorption() {
        var queue = JobQueue()
        queue.add(Self.job("a", ["x"], at: 5))
        queue.add(Self.job("a", ["y"], at: 3))
        #expect(queue["a"]?.work == .reindexItems(["x", "y"]))
        #expect(queue["a"]?.requested == 3)
        queue.add(Self.job("a", at: 9))
        queue.add(Self.job("a", ["z"], at: 10))
        #expect(queue["a"]?.work == .reindexAll)
        #expect(queue["a"]?.requested == 3)
        #expect(queue.jobs.count == 1)
        #expect(queue["b"] == nil)
    }

    @Test(
        "The order of requests makes no difference, nor does a repeated request", arguments: [91, 92, 93] as [UInt64])
    func orderIndependence(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let jobs = (0..<random.below(9)).map { _ in Self.random(&random) }
            var first = JobQueue()
            for job in jobs { first.add(job) }
            var second = JobQueue()
            for job in jobs.shuffled(using: &random) { second.add(job) }
            #expect(Self.visible(first) == Self.visible(second))
            for job in jobs.shuffled(using: &random) { second.add(job) }
            #expect(Self.visible(first) == Self.visible(second))
            #expect(first.jobs.map(\.requested) == first.jobs.map(\.requested).sorted())
            #expect(Set(first.jobs.map(\.bundle)) == Set(jobs.map(\.bundle)))
        }
    }

    @Test("A completed job is removed, and an unknown job is not an error")
    func complete() throws {
        var queue = JobQueue()
        queue.add(Self.job("a", ["x", "y"]))
        queue.complete(try #require(queue["a"]))
        #expect(queue.jobs.isEmpty)
        queue.complete(Self.job("a"))
        #expect(queue.jobs.isEmpty)
    }

    @Test("A request during a job survives the end of that job")
    func askedMeanwhile() throws {
        var queue = JobQueue()
        queue.add(Self.job("a", ["x", "y"], at: 1))
        let running = try #require(queue["a"])
        queue.add(Self.job("a", ["y", "z"], at: 2))
        queue.complete(running)
        #expect(queue["a"]?.work == .reindexItems(["y", "z"]))

        queue.add(Self.job("a", at: 3))
        let everything = try #require(queue["a"])
        queue.add(Self.job("a", ["w"], at: 4))
        queue.complete(everything)
        #expect(queue["a"]?.work == .reindexItems(["w"]))

        queue.add(Self.job("a", at: 5))
        let again = try #require(queue["a"])
        queue.add(Self.job("a", at: 6))
        queue.complete(again)
        #expect(queue["a"]?.work == .reindexAll)

        queue.complete(try #require(queue["a"]))
        queue.add(Self.job("a", ["x"]))
        let items = try #require(queue["a"])
        queue.add(Self.job("a"))
        queue.complete(items)
        #expect(queue["a"]?.work == .reindexAll)
    }

    @Test("A job completes its own request if none followed")
    func completeByValue() {
        var queue = JobQueue()
        let job = queue.add(Self.job("a", at: 1))
        queue.complete(job)
        #expect(queue.jobs.isEmpty)
    }

    @Test("A job without a request completes everything that its work covers")
    func completeByHand() {
        var queue = JobQueue()
        queue.add(Self.job("a", ["x", "y"], at: 1))
        queue.complete(Self.job("a", ["x"]))
        #expect(queue["a"]?.work == .reindexItems(["y"]))
        queue.complete(Self.job("a"))
        #expect(queue.jobs.isEmpty)
    }

    @Test("A job that ended twice, or after another replaced it, removes nothing")
    func completeTwice() throws {
        var queue = JobQueue()
        let first = queue.add(Self.job("a", ["x"]))
        queue.complete(first)
        queue.add(Self.job("a", ["x"]))
        queue.complete(first)
        #expect(queue["a"]?.work == .reindexItems(["x"]))
    }

    @Test("A failure keeps the job and makes it wait, longer each time; a partial success clears the wait")
    func fail() throws {
        var queue = JobQueue()
        queue.fail(bundle: "a", reason: "nobody", now: 0)
        #expect(queue.jobs.isEmpty)
        let running = queue.add(Self.job("a", ["x"], at: 1))
        queue.fail(bundle: "a", reason: "crash", now: 100)
        #expect(queue["a"]?.failures == 1 && queue["a"]?.lastFailure == "crash" && queue["a"]?.notBefore == 130)
        queue.fail(bundle: "a", reason: "hang", now: 200)
        #expect(queue["a"]?.failures == 2 && queue["a"]?.lastFailure == "hang" && queue["a"]?.notBefore == 260)
        queue.add(Self.job("a", ["y"], at: 300))
        #expect(queue["a"]?.failures == 2 && queue["a"]?.notBefore == 260)
        queue.complete(running)
        #expect(queue["a"]?.work == .reindexItems(["y"]))
        #expect(queue["a"]?.failures == 0 && queue["a"]?.lastFailure == nil && queue["a"]?.notBefore == nil)
    }

    @Test("Endless failures do not overflow")
    func manyFailures() throws {
        var job = Self.job()
        job.failures = .max
        var queue = JobQueue()
        queue.add(job)
        queue.fail(bundle: "a", reason: "x", now: 0)
        #expect(queue["a"]?.notBefore == Backoff.longestDelay)
    }

    /// The time of the last request for each subject, and the subjects of a running job.
    private struct Model {
        var all: [String: Int] = [:]
        var items: [String: [String: Int]] = [:]

        mutating func ask(_ job: Job, _ step: Int) {
            switch job.work {
            case .reindexAll: all[job.bundle] = step
            case .reindexItems(let names): for name in names { items[job.bundle, default: [:]][name] = step }
            }
        }

        mutating func complete(_ job: Job, taken: Int) {
            let bundle = job.bundle
            switch job.work {
            case .reindexAll:
                if let asked = all[bundle], asked <= taken { all[bundle] = nil }
                items[bundle] = items[bundle]?.filter { $0.value > taken }
            case .reindexItems(let names):
                items[bundle] = items[bundle]?.filter { !names.contains($0.key) || $0.value > taken }
            }
        }

        /// Returns `true` if all pending work is in the queue, separately or as part of a full
        /// reindex.
        func isCovered(by queue: JobQueue) -> Bool {
            all.keys.allSatisfy { queue[$0]?.work == .reindexAll }
                && items.allSatisfy { bundle, names in
                    guard !names.isEmpty else { return true }
                    switch queue[bundle]?.work {
                    case .reindexAll: return true
                    case .reindexItems(let pending): return pending.isSuperset(of: names.keys)
                    case nil: return false
                    }
                }
        }

        /// Returns `true` if the queue contains only requested work.
        func covers(_ queue: JobQueue) -> Bool {
            queue.jobs.allSatisfy { job in
                switch job.work {
                case .reindexAll: all[job.bundle] != nil
                case .reindexItems(let pending): pending.isSubset(of: (items[job.bundle] ?? [:]).keys)
                }
            }
        }
    }

    @Test(
        "In any sequence no request is lost and no work is done without a request",
        arguments: 101...110 as ClosedRange<UInt64>)
    func nothingLost(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var queue = JobQueue()
        var model = Model()
        var running: [(job: Job, taken: Int)] = []
        for step in 0..<400 {
            switch random.below(8) {
            case 0, 1, 2:
                let job = Self.random(&random)
                queue.add(job)
                model.ask(job, step)
            case 3, 4:
                if let job = queue.jobs.randomElement(using: &random) { running.append((job, step)) }
            case 5, 6:
                guard !running.isEmpty else { continue }
                let (job, taken) = running.remove(at: random.below(running.count))
                queue.complete(job)
                model.complete(job, taken: taken)
            default:
                queue.fail(bundle: random.pick(["a", "b", "c"]), reason: "r", now: Double(step))
                queue = try JSONDecoder().decode(JobQueue.self, from: JSONEncoder().encode(queue))
            }
            #expect(model.isCovered(by: queue), "seed \(seed), step \(step)")
            #expect(model.covers(queue), "seed \(seed), step \(step)")
            #expect(Set(queue.jobs.map(\.bundle)).count == queue.jobs.count)
        }
    }

    @Test("A queue is unchanged after writing and reading")
    func roundTrip() throws {
        var random = SplitMix64(seed: 7)
        var queue = JobQueue()
        for _ in 0..<20 { queue.add(Self.random(&random)) }
        queue.fail(bundle: "a", reason: "“x”\n\0", now: 12.25)
        let again = try JSONDecoder().decode(JobQueue.self, from: JSONEncoder().encode(queue))
        #expect(again == queue)
        #expect(try JSONDecoder().decode(JobQueue.self, from: JSONEncoder().encode(JobQueue())) == JobQueue())
    }

    @Test("A file from before requests were counted is still read, and its jobs can be completed")
    func olderFile() throws {
        let text = """
            {"jobs": [
              {"bundle": "b", "work": {"reindexItems": {"_0": ["x"]}}, "requested": 2, "failures": 1, "notBefore": 3},
              {"bundle": "a", "work": {"reindexAll": {}}, "requested": 1, "failures": 0}
            ]}
            """
        var queue = try JSONDecoder().decode(JobQueue.self, from: Data(text.utf8))
        #expect(queue["b"]?.work == .reindexItems(["x"]) && queue["b"]?.notBefore == 3)
        let running = try #require(queue["b"])
        queue.add(Self.job("b", ["y"], at: 4))
        queue.complete(running)
        #expect(queue["b"]?.work == .reindexItems(["y"]))
        let everything = try #require(queue["a"])
        queue.add(Self.job("a", ["z"], at: 5))
        queue.complete(everything)
        #expect(queue["a"]?.work == .reindexItems(["z"]))
    }

    @Test("A file with several jobs of one bundle merges them")
    func doubledFile() throws {
        let text = """
            {"jobs": [
              {"bundle": "a", "work": {"reindexItems": {"_0": ["x"]}}, "requested": 2, "failures": 0},
              {"bundle": "a", "work": {"reindexItems": {"_0": ["y"]}}, "requested": 1, "failures": 0}
            ]}
            """
        let queue = try JSONDecoder().decode(JobQueue.self, from: Data(text.utf8))
        #expect(queue.jobs.count == 1 && queue["a"]?.work == .reindexItems(["x", "y"]))
    }

    @Test("An invalid queue is an error", arguments: ["", "[]", "{}", "{\"jobs\": [{}]}", "{\"jobs\": null}"])
    func malformed(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(JobQueue.self, from: Data(text.utf8)) }
    }
}

@Suite("The wait after failures")
struct BackoffTests {
    @Test("It begins at 30 s, doubles, and stays at 5 h")
    func delays() {
        #expect(Backoff.delay(afterFailures: 0) == 0)
        #expect(Backoff.delay(afterFailures: 1) == 30)
        #expect(Backoff.delay(afterFailures: 2) == 60)
        #expect(Backoff.delay(afterFailures: 10) == 15360)
        #expect(Backoff.delay(afterFailures: 11) == 18000)
        for failures in [.min, -1] { #expect(Backoff.delay(afterFailures: failures) == 0) }
        for failures in [64, 65, 1 << 40, .max] { #expect(Backoff.delay(afterFailures: failures) == 18000) }
    }

    @Test("It never becomes shorter and never exceeds the longest wait")
    func monotone() {
        var last = 0.0
        for failures in -3...200 {
            let delay = Backoff.delay(afterFailures: failures)
            #expect(delay >= last && delay <= Backoff.longestDelay)
            last = delay
        }
    }
}
