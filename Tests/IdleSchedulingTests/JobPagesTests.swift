// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@Suite("Requests during a reindex in pages")
struct JobPagesTests {
    private static func job(_ items: Set<String>? = nil) -> Job {
        Job(bundle: "a", work: items.map(Job.Work.reindexItems) ?? .reindexAll, requested: 0, cause: .asked)
    }

    /// Returns the position of a reindex that started with a job.
    private static func place(_ begun: Job) -> ReindexPlace {
        ReindexPlace(
            cursor: Data(), pages: 1, began: 0, replacement: 1, generation: 1, fingerprint: "",
            request: begun.request)
    }

    @Test("A repeated request for everything restarts with the first page, and answers earlier items")
    func placeOfWhatIsDone() throws {
        var queue = JobQueue()
        let first = queue.add(Self.job())
        queue.setPlace(Self.place(first), of: "a")
        queue.add(Self.job(["x"]))
        queue.add(Self.job())
        queue.fail(bundle: "a", reason: "for a while it could not be asked", now: 0)
        queue.complete(first)
        let second = try #require(queue["a"])
        #expect(second.work == .reindexAll && second.place == nil)
        queue.complete(second)
        #expect(queue["a"] == nil)
    }

    @Test("Items requested during the first page are pending, although everything was requested after them")
    func askedDuringFirstPage() throws {
        var queue = JobQueue()
        let begun = queue.add(Self.job())
        queue.add(Self.job(["x"]))
        queue.add(Self.job())
        queue.setPlace(Self.place(begun), of: "a")
        // The job's process was killed. The next process continues with the second page.
        let resumed = try #require(queue["a"])
        #expect(resumed.place != nil)
        queue.complete(resumed)
        #expect(queue["a"]?.work == .reindexItems(["x"]))
    }

    @Test("A cursor of an older file without later requests answers no item")
    func olderPlace() {
        var queue = JobQueue()
        var place = Self.place(queue.add(Self.job()))
        place.request = nil
        queue.setPlace(place, of: "a")
        let resumed = queue.add(Self.job(["x"]))
        queue.complete(resumed)
        #expect(queue["a"]?.work == .reindexItems(["x"]))
    }

    @Test("More items than are kept are not answered by pages that started before", arguments: [false, true])
    func tooManyItems(isFirstPageDone: Bool) throws {
        var queue = JobQueue()
        let begun = queue.add(Self.job())
        if isFirstPageDone { queue.setPlace(Self.place(begun), of: "a") }
        queue.add(Self.job(Set((0...JobQueue.maximumItems).map { "item \($0)" })))
        queue.setPlace(Self.place(begun), of: "a")
        let anew = try #require(queue["a"])
        #expect(anew.work == .reindexAll && anew.place == nil)
        queue.setPlace(Self.place(anew), of: "a")
        let resumed = try #require(queue["a"])
        #expect(resumed.place != nil)
        queue.complete(resumed)
        #expect(queue["a"] == nil)
    }

    /// A reindex in progress: its work, and the step in which its first page was requested.
    private struct Run {
        var job: Job
        var begun: Int
        var first: Int
    }

    @Test(
        "With kills between pages, no request is lost and no work is done without a request",
        arguments: 201...210 as ClosedRange<UInt64>)
    func nothingLost(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var queue = JobQueue()
        // The time of the last request for a full reindex, and for each item.
        var everything: Int?
        var items: [String: Int] = [:]
        var run: Run?
        /// The time of the request for the first of the completed pages.
        var first = 0
        for step in 0..<500 {
            switch random.below(10) {
            case 0, 1:
                let names = Set((0...random.below(2)).map { _ in "i\(random.below(5))" })
                queue.add(Self.job(names))
                for name in names { items[name] = step }
            case 2:
                queue.add(Self.job())
                everything = step
            case 3, 4, 5:
                guard run == nil, var job = queue["a"] else { continue }
                if job.place != nil, random.below(3) == 0 {
                    // The extension has changed.
                    queue.setPlace(nil, of: "a")
                    job = try #require(queue["a"])
                }
                run = Run(job: job, begun: step, first: job.place == nil ? step : first)
            case 6, 7:
                guard let run, run.job.work == .reindexAll else { continue }
                queue.setPlace(run.job.place ?? Self.place(run.job), of: "a")
                first = run.first
            case 8:
                guard let done = run else { continue }
                run = nil
                queue.complete(done.job)
                switch done.job.work {
                case .reindexAll:
                    // A repeated request for a full reindex is satisfied by pages in progress.
                    if let asked = everything, asked <= done.begun { everything = nil }
                    items = items.filter { $0.value > done.first }
                case .reindexItems(let names):
                    items = items.filter { !names.contains($0.key) || $0.value > done.begun }
                }
            default:
                run = nil
                queue = try JSONDecoder().decode(JobQueue.self, from: JSONEncoder().encode(queue))
            }
            let pending: Job.Work? =
                everything != nil ? .reindexAll : items.isEmpty ? nil : .reindexItems(Set(items.keys))
            #expect(queue["a"]?.work == pending, "seed \(seed), step \(step)")
        }
    }

    @Test("Equal queues have equal bytes, with any order of items in memory")
    func order() throws {
        let names = (0..<50).flatMap { ["i\($0)", "I\($0)", "i0\($0)", "é\($0)", "e\u{301}\($0)"] }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        func encoded(capacity: Int) throws -> Data {
            var items: Set<String> = []
            items.reserveCapacity(capacity)
            items.formUnion(names)
            var queue = JobQueue()
            queue.add(Self.job(items))
            return try encoder.encode(queue)
        }
        let bytes = try encoded(capacity: 0)
        for power in 8..<14 { #expect(try encoded(capacity: 1 << power) == bytes) }
        let again = try JSONDecoder().decode(JobQueue.self, from: bytes)
        #expect(try encoder.encode(again) == bytes)
        #expect(again["a"]?.work == .reindexItems(Set(names)))
    }
}
