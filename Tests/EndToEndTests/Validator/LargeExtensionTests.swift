// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import ExtensionValidation

/// Extensions with 20,000 items, for which the validation uses a sample.
@Suite("The validator and an extension with very many items", .timeLimit(.minutes(10)))
struct LargeExtensionTests {
    /// The numbers of items that checks reported as received.
    private final class Told: Sendable {
        private let state = Mutex<[ValidationCheck: Int]>([:])
        func add(_ check: ValidationCheck, _ count: Int) { state.withLock { $0[check] = max($0[check] ?? 0, count) } }
        var counts: [ValidationCheck: Int] { state.withLock { $0 } }
    }

    @Test(
        "requests only a sample: by pages, or by a variable that the extension reads",
        arguments: [ValidatorSubject.vast, .huge])
    func sample(subject: ValidatorSubject) async throws {
        let harness = try Harness()
        let told = Told()
        let report = try await harness.validate(
            try subject.install(harness),
            [.acknowledgement, .reindexTwice, .reindexItems, .goneItems, .paging, .throttle]
        ) { settings in
            settings.sampleItems = 600
            settings.onItems = { told.add($0, $1) }
        }
        #expect(report.problems == [])
        let counts = told.counts
        #expect((1...1200).contains(counts[.reindexTwice] ?? 0), "\(counts)")
        #expect(counts[.acknowledgement] ?? 0 <= 1200, "\(counts)")
    }

    @Test("checks all items of an extension that always donates everything, and of any on request")
    func everything() async throws {
        let harness = try Harness()
        for (subject, wanted) in [(ValidatorSubject.crowded, 600), (.vast, 0)] {
            let told = Told()
            let report = try await harness.validate(try subject.install(harness), [.outputVolume, .sandbox]) {
                settings in
                settings.sampleItems = wanted
                settings.onItems = { told.add($0, $1) }
            }
            #expect(report.problems == [])
            #expect(told.counts[.outputVolume] ?? 0 >= 500, "\(told.counts)")
        }
    }

    @Test("Two samples are the same if most of their items are, and different otherwise")
    func comparison() {
        func items(_ numbers: Range<Int>) -> [DonationCollector.Name: ItemRecord] {
            var items: [DonationCollector.Name: ItemRecord] = [:]
            for number in numbers {
                items[.init(index: nil, identifier: "\(number)")] = ItemRecord(uniqueIdentifier: "\(number)")
            }
            return items
        }
        func result(_ other: Range<Int>, isSample: Bool) -> CheckResult {
            var findings = Findings()
            CheckContext.compare(items(0..<100), items(other), "It", isSample: isSample, &findings)
            return findings.result
        }
        #expect(result(0..<100, isSample: false) == .passed)
        #expect(result(10..<110, isSample: false).kind == .failed)
        #expect(result(10..<110, isSample: true) == .passed)
        #expect(result(60..<160, isSample: true).kind == .failed)
    }

    @Test("The name of a missing item resembles the existing names")
    func goneNames() {
        #expect(CheckContext.goneName(like: "/home/u/a note.md", "none") == "/home/u/none.md")
        #expect(CheckContext.goneName(like: "alpha", "none") == "none")
        #expect(CheckContext.goneName(like: "folder/.hidden", "none") == "folder/none")
    }

    @Test("The load time is compared with an empty extension on this machine")
    func loading() {
        #expect(CheckContext.judge(load: 9, baseline: 1, expected: 10) == .passed)
        #expect(CheckContext.judge(load: 80, baseline: 50, expected: 25) == .passed, "a slow machine")
        let slow = CheckContext.judge(load: 220, baseline: 50, expected: 25)
        #expect(slow.kind == .warning)
        #expect(slow.reason?.contains("that does nothing takes 50.0 ms on this machine") == true)
        #expect(CheckContext.judge(load: 30, baseline: nil, expected: 25).reason?.contains("25 ms are usual") == true)
    }

    @Test("One jump of the memory is no growth, wherever it is, and hides no growth")
    func singleJump() {
        for count in [2, 5, 20, 30, 67] {
            for place in 1..<count where count >= 20 {
                let jump = (0..<count).map { $0 < place ? 0.0 : 4096 }
                #expect(CheckContext.slope(jump) == 0, "at \(place) of \(count)")
                let both = jump.enumerated().map { $1 + 50 * Double($0) }
                #expect((40...60).contains(CheckContext.slope(both)), "at \(place) of \(count)")
            }
            #expect((40...60).contains(CheckContext.slope((0..<count).map { 50 * Double($0) })), "\(count)")
        }
        #expect(CheckContext.slope([]) == 0 && CheckContext.slope([7]) == 0)
        // A leak of 800 KiB every second round, in steps of 820 KiB, is also detected in 20 rounds.
        #expect(CheckContext.slope((0..<20).map { Double($0 / 2 * 800 / 820 * 820) }) > 300)
        // The allocator grows in steps of 132 KiB.
        #expect((15...25).contains(CheckContext.slope((0..<67).map { Double($0 * 20 / 132 * 132) })))
    }

    @Test("Growth counts for the libraries of bindings only as far as these keep memory")
    func growth() {
        #expect(CheckContext.judge(growth: 5, rounds: 60, ofLibraries: 5) == .passed)
        let unknown = CheckContext.judge(growth: 300, rounds: 60, ofLibraries: nil)
        #expect(unknown.kind == .failed && unknown.reason?.contains("libraries") == false)
        let theirs = CheckContext.judge(growth: 300, rounds: 60, ofLibraries: 290)
        #expect(theirs.kind == .failed)
        #expect(theirs.reason?.contains("The libraries that it calls keep 290 KiB of that") == true)
        let own = CheckContext.judge(growth: 300, rounds: 60, ofLibraries: 2)
        #expect(own.kind == .warning)
        #expect(own.reason?.contains("keep 2 KiB of that; the rest is the worker's own") == true)
    }
}
