// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@Suite("Causes of pending jobs")
struct JobCauseTests {
    private static func job(
        _ items: Set<String>? = nil, _ cause: Job.Cause?, deadline: Double? = nil, at moment: Double = 0
    ) -> Job {
        Job(
            bundle: "a", work: items.map(Job.Work.reindexItems) ?? .reindexAll, requested: moment, cause: cause,
            deadline: deadline)
    }

    @Test("Only items that expire can wait longer than missing items")
    func urgency() {
        for cause in Job.Cause.allCases {
            #expect(Self.job(nil, cause).urgency == (cause == .expiry ? .expiry : .freshness))
        }
        #expect(Self.job(nil, nil).urgency == .freshness)
    }

    @Test(
        "The most urgent cause is the cause of merged requests, in any order", arguments: [1, 2, 3] as [UInt64])
    func merging(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let jobs = (0..<(1 + random.below(6))).map { number in
                Self.job(
                    random.below(3) == 0 ? nil : ["i\(number)"], random.pick(Job.Cause.allCases),
                    deadline: random.below(2) == 0 ? nil : Double(random.below(50)))
            }
            var queue = JobQueue()
            for job in jobs { queue.add(job) }
            let pending = try #require(queue["a"])
            #expect(pending.cause == jobs.compactMap(\.cause).max())
            #expect(pending.deadline == jobs.compactMap(\.deadline).min())
            let again = try JSONDecoder().decode(JobQueue.self, from: JSONEncoder().encode(queue))
            #expect(again == queue)
        }
    }

    @Test("A job for a loss stays one until it is done, with any requests and failures")
    func losses() throws {
        var queue = JobQueue()
        queue.add(Self.job(nil, .lost))
        let asked = queue.add(Self.job(nil, .asked))
        queue.fail(bundle: "a", reason: "of a test", now: 1)
        let pending = try #require(queue["a"])
        #expect(pending.cause == .asked && pending.isForLosses && asked.isForLosses)
        queue.add(Self.job(["x"], .asked))
        queue.complete(asked)
        #expect(queue["a"]?.isForLosses == false)
    }

    @Test("A completed job removes its cause and deadline; newer requests have their own")
    func finishing() throws {
        var queue = JobQueue()
        queue.add(Self.job(["x"], .asked))
        let begun = queue.add(Self.job(["y"], .expiry, deadline: 5))
        #expect(begun.cause == .asked && begun.deadline == 5)
        queue.add(Self.job(["z"], .givenBack))
        queue.complete(begun)
        let left = try #require(queue["a"])
        #expect(left.work == .reindexItems(["z"]) && left.cause == .givenBack && left.deadline == nil)
        #expect(left.urgency == .freshness)
        queue.add(Self.job(["w"], .expiry, deadline: 9))
        queue.complete(left)
        #expect(queue["a"]?.cause == .expiry && queue["a"]?.deadline == 9 && queue["a"]?.urgency == .expiry)
    }

    @Test(
        "A replaced extension need not wait for the failures of the earlier one",
        arguments: Job.Cause.allCases)
    func forgiving(cause: Job.Cause) throws {
        var queue = JobQueue()
        queue.add(Self.job(["x"], .asked))
        queue.fail(bundle: "a", reason: "it failed", now: 100)
        queue.add(Self.job(nil, cause))
        let isOther = cause == .added || cause == .upgraded
        #expect((queue["a"]?.notBefore == nil) == isOther && (queue["a"]?.failures == 0) == isOther)
        queue.forgive(bundle: "a")
        #expect(queue["a"]?.notBefore == nil && queue["a"]?.lastFailure == nil)
    }

    @Test("Requests after the first page of everything are not answered by later pages")
    func askedBetweenPages() throws {
        var queue = JobQueue()
        let begun = queue.add(Self.job(nil, .added))
        queue.setPlace(
            ReindexPlace(
                cursor: Data(), pages: 1, began: 0, replacement: 1, generation: 1, fingerprint: "",
                request: begun.request), of: "a")
        queue.add(Self.job(["x"], .asked))
        queue.add(Self.job(nil, .asked))
        // The job in progress continues with its second page. It includes both requests.
        let taken = try #require(queue["a"])
        queue.complete(taken)
        #expect(queue["a"]?.work == .reindexItems(["x"]))
        queue.complete(try #require(queue["a"]))
        #expect(queue["a"] == nil)
    }

    @Test("Items are kept up to the limit at which they become everything, and none beside everything")
    func room() {
        var queue = JobQueue()
        #expect(queue.room(for: "a") == JobQueue.maximumItems)
        queue.add(Self.job(["x", "y"], .asked))
        let room = queue.room(for: "a")
        #expect(room == JobQueue.maximumItems - 2)
        queue.add(Self.job(Set((0..<room).map { "\($0)" }), .expiry))
        #expect(queue.room(for: "a") == 0 && queue["a"]?.work != .reindexAll)
        queue.add(Self.job(nil, .asked))
        #expect(queue.room(for: "a") == 0)
    }
}
