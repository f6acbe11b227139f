// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The search for a faulty item")
struct BatchBisectionTests {
    private static let crash = ExtensionError.crashed(
        identifier: "a", during: "reindex", exit: .signalled(11), lastOutput: [])
    private static let timeOut = ExtensionError.timedOut(identifier: "a", during: "reindex", limit: .seconds(10))

    /// Runs a bisection with an extension that fails for each part that contains a guilty item.
    private func run(
        _ items: [String], guilty: Set<String>, error: ExtensionError = crash,
        limits: WorkerConfiguration.Limits = .init()
    ) -> BatchBisection<String> {
        var search = BatchBisection(items, limits)
        while let part = search.next() {
            if guilty.isDisjoint(with: part) { search.succeeded() } else { search.failed(error) }
        }
        return search
    }

    @Test("finds exactly the faulty ones, asks for all others, and loses few workers")
    func findsThem() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let items = (0..<(1 + random.below(300))).map { "item \($0)" }
            let guilty = Set((0..<random.below(9)).map { _ in random.pick(items) })
            let error = random.below(2) == 0 ? Self.crash : Self.timeOut
            let search = run(items, guilty: guilty, error: error)
            #expect(
                Set(search.guilty.map(\.item)) == guilty && search.guilty.count == guilty.count, "seed \(seed)")
            #expect(search.done == items.filter { !guilty.contains($0) }, "seed \(seed)")
            // Nine bisections for 300 items, and one more attempt with the last item.
            #expect(search.failures <= guilty.count * 11)
            #expect(!search.isGivenUp && search.setAside.count == guilty.count)
            let isFault = !guilty.isEmpty && guilty.count == Set(items).count
            #expect(search.isExtensionAtFault == isFault, "seed \(seed)")
        }
    }

    @Test("attributes a crash that does not repeat to the extension only")
    func transient() {
        for items in [["one"], (0..<10).map(String.init)] {
            var search = BatchBisection(items, .init())
            _ = search.next()
            search.failed(Self.crash)
            while search.next() != nil { search.succeeded() }
            #expect(search.done == items && search.guilty.isEmpty)
            #expect(search.isExtensionAtFault && search.firstFailure == Self.crash)
        }
    }

    @Test("does not wait twice for a single item that hangs")
    func hangs() {
        #expect(run(["one"], guilty: ["one"], error: Self.timeOut).failures == 1)
        #expect(run(["one"], guilty: ["one"], error: Self.crash).failures == 2)
    }

    @Test("stops if too many fail, and then blames no item unless others succeeded")
    func givesUp() {
        let items = (0..<1000).map(String.init)
        let all = run(items, guilty: Set(items))
        #expect(all.isGivenUp && all.setAside.isEmpty && all.isExtensionAtFault)
        let many = run(items, guilty: Set(items.dropFirst(500)))
        #expect(many.isGivenUp && many.setAside.count == 8 && many.isExtensionAtFault)
        #expect(many.done.count == 500)
        var limits = WorkerConfiguration.Limits()
        limits.lostWorkers = 3
        #expect(run(items, guilty: ["7"], limits: limits).failures == 3)
        #expect(run([], guilty: []).failures == 0)
    }
}
