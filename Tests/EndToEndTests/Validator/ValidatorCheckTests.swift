// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import TestSupport
import Testing

@testable import ExtensionValidation

/// A broken extension and the check that must detect it.
struct Fault: Sendable, CustomTestStringConvertible {
    var subject: ValidatorSubject
    var check: ValidationCheck
    var kind: CheckResult.Kind
    /// Text that the reason contains.
    var reason: String

    init(_ subject: ValidatorSubject, _ check: ValidationCheck, _ kind: CheckResult.Kind, _ reason: String) {
        (self.subject, self.check, self.kind, self.reason) = (subject, check, kind, reason)
    }

    var testDescription: String { "\(subject): \(check.rawValue) \(kind)" }
}

/// Each check detects its fault, and passes correct extensions.
@Suite("A check of the validator", .timeLimit(.minutes(10)))
struct ValidatorCheckTests {
    static let faults: [Fault] = [
        Fault(.slowToLoad, .loadTime, .warning, "From the start of its process to its first answer it took"),
        Fault(.eager, .quietCreation, .failed, "without a request"),
        Fault(.silent, .acknowledgement, .failed, "did not answer or make progress"),
        Fault(.silent, .reindexItems, .failed, "did not answer or make progress"),
        Fault(.twice, .doubleAcknowledgement, .failed, "answeredTwice"),
        Fault(.twice, .misuse, .failed, "answeredTwice"),
        Fault(.deadlock, .lateAcknowledgement, .failed, "did not answer"),
        // The host then ends the worker, and the other requests of the check are lost.
        Fault(.unwilling, .lateAcknowledgement, .failed, "the sheets are locked"),
        Fault(.misspelt, .attributes, .warning, #"3 items have the attribute "keyword": there is no such"#),
        Fault(.counting, .reindexTwice, .failed, "lacks 3 items"),
        Fault(.volatile, .reindexTwice, .warning, "a different title for 3 items"),
        Fault(.hoarding, .reindexTwice, .warning, "does not delete it"),
        Fault(.forgetful, .reindexItems, .failed, "neither donated nor deleted"),
        Fault(.forgetful, .goneItems, .failed, "no longer exist, and left 3 in the index"),
        Fault(.copying, .goneItems, .failed, #"in the index "copies""#),
        Fault(.generous, .unknownItems, .failed, "which does not exist, with 15 bytes"),
        Fault(.liar, .promises, .failed, "without a single HTML element"),
        Fault(.breaking, .promises, .failed, "it was torn out"),
        Fault(.anyType, .unsupportedTypes, .failed, "which was not promised"),
        Fault(.badPreview, .previews, .failed, "it should be a PNG image"),
        Fault(.badReference, .previews, .failed, "cid:missing"),
        Fault(
            .scripted, .previews, .warning,
            #"Removed: 2 scripts ("script"), 1 event handler ("a()"), 1 remote load ("https://example.org/x.css")."#),
        Fault(.crashing, .previews, .crashed, "abort"),
        Fault(.endless, .cancellation, .warning, "was ended"),
        Fault(.slowNotice, .throttle, .warning, "each time to handle a notice"),
        Fault(.shared, .concurrency, .failed, "12 requests are in progress"),
        Fault(.leaking, .memoryGrowth, .failed, "memory grows by"),
        Fault(.descriptors, .leftovers, .failed, "descriptors open instead of"),
        Fault(.fragile, .fuzzedIdentifiers, .crashed, "abort"),
        Fault(.absent, .paging, .failed, "In a new process the page"),
        Fault(.prying, .sandbox, .failed, "tried to read "),
        Fault(.lockedOut, .sandbox, .failed, "tried to read "),
        Fault(.undead, .sandbox, .failed, "tried to start a process"),
        Fault(.talkative, .outputVolume, .warning, "lines in one round"),
    ]

    @Test("catches the extension that is broken for it", arguments: faults)
    func catches(_ fault: Fault) async throws {
        let harness = try Harness()
        try Data("x".utf8).write(to: URL(filePath: harness.folder + "/secret"))
        var limits = WorkerConfiguration.Limits.patient
        if [.silent, .deadlock].contains(fault.subject) {
            (limits.firstSign, limits.progress) = (.seconds(2), .seconds(2))
        }
        limits.cancelGrace = .milliseconds(200)
        // A slow extension sleeps in real time, and SteadyClock slows down on a busy machine.
        let clock: any Clock<Duration> = fault.subject == .slowNotice ? ContinuousClock() : SteadyClock.shared
        let report = try await harness.validate(
            try fault.subject.install(harness), [fault.check], limits: limits, clock: clock)
        let result = try report.result(fault.check)
        #expect(result.kind == fault.kind && result.reason?.contains(fault.reason) == true, "\(result)")
        #expect(result.advice?.isEmpty == false)
        #expect(report.isGood == (fault.kind == .warning))
    }

    @Test("passes a well-behaved extension, in a process of its own and in this one", arguments: [false, true])
    func good(inProcess: Bool) async throws {
        let harness = try Harness()
        let bundle = try ValidatorSubject.good.install(harness)
        // A misused item names no host, so misuse by other tests in this process may be reported
        // here.
        let checks = inProcess ? ValidationCheck.judgeable.subtracting([.misuse]) : ValidationCheck.judgeable
        let report = try await harness.validate(bundle, checks, inProcess: inProcess)
        #expect(report.problems == [])
        let others = report.checks.filter { $0.result.kind != .passed }.map(\.check)
        let processes = inProcess ? ValidationCheck.allCases.filter { $0.needsProcess && checks.contains($0) } : []
        #expect(others == [.paging] + processes)
        #expect(report.checks.map(\.check) == ValidationCheck.allCases.filter { checks.contains($0) })
    }

    @Test("passes an extension that donates to a named index only")
    func named() async throws {
        let harness = try Harness()
        let report = try await harness.validate(
            try ValidatorSubject.named.install(harness), ValidationCheck.judgeable)
        #expect(report.problems == [])
        #expect(report.checks.filter { $0.result.kind != .passed }.map(\.check) == [.paging])
    }

    @Test("takes memory growth that ends for a warm-up", .enabled(if: Sanitizer.current == nil))
    func warmUp() async throws {
        let harness = try Harness()
        let bundle = try ValidatorSubject.warming.install(harness)
        let result = try await harness.validate(bundle, [.memoryGrowth]).result(.memoryGrowth)
        #expect(result == .passed, "\(result)")
    }

    @Test("in this process creates an extension again only after earlier calls have returned")
    func callsReturnFirst() async throws {
        let harness = try Harness()
        let bundle = try ValidatorSubject.lingering.install(harness)
        let report = try await harness.validate(bundle, [.reindexTwice], inProcess: true)
        #expect(report.count(.passed) == 1, "\(report.problems)")
    }

    @Test("catches a process that outlives its host")
    func livesOn() async throws {
        let harness = try Harness()
        // No extension can keep a worker alive, so this is a worker that keeps running after its
        // host's server has exited.
        let worker = harness.folder + "/worker"
        try Data("#!/bin/sh\n'\(try BuiltProducts.program("searchlight-worker"))'\nsleep 600\n".utf8)
            .write(to: URL(filePath: worker))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: worker)
        var configuration = try harness.validatorConfiguration()
        configuration.workerPath = worker
        // These protections would terminate a process that is not a child of the host, and the host
        // would answer the calls of the wrong process.
        configuration.protections.subtract([.endWithHost, .telling])
        let bundle = try ValidatorSubject.good.install(harness)
        let validator = ExtensionValidator(
            ExtensionValidator.Subject(path: bundle), configuration: configuration,
            settings: ValidationSettings(seed: 7))
        let result = try await validator.run([.hangUp]).result(.hangUp)
        #expect(
            result.kind == .failed && result.reason?.contains("continued after the end of the host") == true,
            "\(result)")
    }

    @Test("follows pages to their end, and notices a missing end")
    func pages() async throws {
        let harness = try Harness()
        let report = try await harness.validate(try ValidatorSubject.paged.install(harness), [.paging, .reindexTwice])
        #expect(report.count(.passed) == 2, "\(report.problems)")
        let endless = try await harness.validate(try ValidatorSubject.circling.install(harness), [.paging])
        #expect(try endless.result(.paging).kind == .failed)
    }

    @Test("passes the documentation's example in C")
    func recipes() async throws {
        let harness = try Harness()
        let library = harness.folder + "/recipes.so"
        let source = BuiltProducts.repository + "/docs/examples/recipes.c"
        let (status, text) = try CFixture.run(
            CFixture.compiler, ["-shared", "-fPIC", "-I\(CFixture.includeFolder)", source, "-o", library])
        try #require(status == 0, "\(text)")
        let bundle = try harness.install("com.example.recipes", library: library)
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(report.problems == [])
    }

    @Test("passes the notebook of the tests, except for the promises that it breaks on purpose")
    func notebook() async throws {
        let harness = try Harness()
        let bundle = harness.extensions + "/" + (try harness.installFixture("notebook")) + ".searchext"
        // The extension returns arbitrary bytes for each type, and acknowledges a reindex of items
        // without donating.
        let broken: Set<ValidationCheck> = [.promises, .unsupportedTypes, .unknownItems, .reindexItems, .goneItems]
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(Set(report.checks.filter { $0.result.isFailure }.map(\.check)) == broken, "\(report.problems)")
    }

    @Test("passes Journal")
    func journal() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        for (name, text) in [("one.md", "# One\n\nSome *text*.\n"), ("two.txt", "Two\n\nMore text.\n")] {
            try Data(text.utf8).write(to: URL(filePath: notes + "/" + name))
        }
        let bundle = harness.extensions + "/" + (try harness.installJournal(notes: notes)) + ".searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(report.problems == [])
        #expect(report.count(.passed) >= 17)
    }

    @Test("accepts Foundation's ordinary questions about a file")
    func foundation() async throws {
        let harness = try Harness()
        let bundle = try harness.install(
            "com.example.asks", library: try SwiftFixture.library(),
            principalClass: "\(SwiftFixture.module).AsksAboutFiles")
        let report = try await harness.validate(bundle, [.acknowledgement, .sandbox])
        #expect(report.problems == [])
    }

    @Test(
        "reports a request that always fails once, and marks what follows from it",
        arguments: [
            (.crashing, "preview an item"), (.dying, "provide an item as data of type public.html"),
            (.unwilling, "reindex some items"),
        ] as [(ValidatorSubject, String)])
    func consequences(subject: ValidatorSubject, request: String) async throws {
        let harness = try Harness()
        let report = try await harness.validate(try subject.install(harness), ValidationCheck.judgeable)
        let failed = report.checks.filter { $0.result.isFailure }
        #expect(failed.count == 1, "\(report.problems)")
        let first = try #require(failed.first)
        for one in report.checks where one.isConsequence {
            #expect(one.result == .skipped(reason: "the request to \(request) fails (see \(first.check.rawValue))"))
        }
        // Without HTML, each check has other requests.
        let follows = report.checks.contains { $0.result.reason?.contains("(see \(first.check.rawValue))") == true }
        #expect(follows || subject == .dying, "\(report.checks)")
        // Other requests are still checked.
        #expect(report.count(.passed) > 5, "\(report.checks)")
    }

    @Test("selects the same items with the same seed")
    func seed() {
        func names(_ seed: UInt64) -> [String] {
            var generator = SeededGenerator(seed: seed, for: .fuzzedIdentifiers)
            return (0..<200).map { _ in HostileIdentifiers.next(&generator, like: ["alpha", "beta"]) }
        }
        #expect(names(3) == names(3))
        #expect(names(3) != names(4))
        var other = SeededGenerator(seed: 3, for: .promises)
        #expect(names(3).first != HostileIdentifiers.next(&other, like: ["alpha", "beta"]))
        let bytes = names(5).map(\.utf8.count)
        #expect(bytes.allSatisfy { $0 <= 4096 } && bytes.contains { $0 > 1000 })
        #expect(!names(6).contains { $0.utf8.contains(0) })
    }

    @Test("leaves a failing reindex to the check for it, or reports it itself")
    func failedReindex() async throws {
        let harness = try Harness()
        let bundle = try harness.install(
            "com.example.crash-in-request", library: try CFixture.library("crash-in-request"))
        let both = try await harness.validate(bundle, [.acknowledgement, .promises])
        #expect(try both.result(.acknowledgement).kind == .crashed)
        #expect(try both.result(.promises).kind == .skipped)
        let alone = try await harness.validate(bundle, [.promises])
        #expect(try alone.result(.promises).kind == .crashed)
    }
}
