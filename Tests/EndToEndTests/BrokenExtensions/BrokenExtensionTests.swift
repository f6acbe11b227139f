// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import ServiceMessages
import Testing

/// A fixture for each kind of fault. The error is typed and names the fault, and nothing else is
/// affected.
@Suite("A broken extension", .timeLimit(.minutes(10)))
struct BrokenExtensionTests {
    /// Reindexes a broken fixture together with a working one. The broken one fails as expected and
    /// its reindex stays pending. The working one works before and after.
    private func expectFailure(
        _ fixture: String, limits: WorkerConfiguration.Limits = .patient,
        _ isExpected: (ExtensionError) -> Bool
    ) async throws {
        let harness = try Harness()
        let good = try harness.installFixture("notebook")
        let broken = try harness.installFixture(fixture)
        try await harness.withEngine(limits: limits) { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(broken) }
            if case .extension(let error)? = error {
                #expect(isExpected(error), "\(error)")
            } else {
                Issue.record("\(String(describing: error))")
            }
            #expect(engine.owedJobs.map(\.bundle) == [broken])
            #expect(engine.owedJobs.first?.lastFailure?.isEmpty == false)
        }
        try await harness.withEngine { engine async throws in
            let count = try await engine.reindexAll(good)
            #expect(count == 3)
            #expect(engine.owedJobs.map(\.bundle) == [broken])
        }
    }

    private func isLoadFailure(_ error: ExtensionError, _ expected: LoadFailure, _ text: String) -> Bool {
        guard case .cannotLoad(_, expected, let message) = error else { return false }
        return message.contains(text)
    }

    @Test("without an entry point is reported with the symbol to export")
    func missingEntry() async throws {
        try await expectFailure("missing-entry") {
            isLoadFailure($0, .missingEntryPoint, "searchlight_extension_entry_point")
        }
    }

    @Test("that crashes while it is loaded is reported with its signal and last output")
    func crashAtLoad() async throws {
        try await expectFailure("crash-at-load") { error in
            guard case .crashed(_, "load", .signalled(SIGSEGV), let output) = error else { return false }
            return output == ["about to crash"]
        }
    }

    @Test("that ends its process while it is loaded is reported with its exit status")
    func exitAtLoad() async throws {
        try await expectFailure("exit-at-load") { error in
            guard case .crashed(_, "load", .exited(3), _) = error else { return false }
            return true
        }
    }

    @Test("that hangs in create is ended")
    func hangAtLoad() async throws {
        var limits = WorkerConfiguration.Limits.short
        limits.load = .milliseconds(800)
        try await expectFailure("hang-at-load", limits: limits) { error in
            guard case .timedOut(_, "load", .milliseconds(800)) = error else { return false }
            return true
        }
    }

    @Test("that cannot be created is reported with its message")
    func createFails() async throws {
        try await expectFailure("create-fails") { isLoadFailure($0, .cannotCreate, "the database is locked") }
    }

    @Test("built for another header is reported with both versions")
    func wrongABI() async throws {
        try await expectFailure("wrong-abi") { isLoadFailure($0, .incompatibleABI, "99.0") }
    }

    @Test("with an identifier that is not its own is rejected")
    func wrongIdentifier() async throws {
        try await expectFailure("wrong-identifier") {
            isLoadFailure($0, .identifierMismatch, "com.example.somebody-else")
        }
    }

    @Test("that never acknowledges is ended, and its donations stay")
    func neverAcknowledges() async throws {
        try await expectFailure("never-acknowledges", limits: .short) { error in
            guard case .timedOut(_, "reindex everything", _) = error else { return false }
            return true
        }
        let harness = try Harness()
        let bundle = try harness.installFixture("never-acknowledges")
        try await harness.withEngine(limits: .short) { engine async throws in
            _ = try? await engine.reindexAll(bundle)
            let counts = try await engine.itemCounts()
            #expect(counts == [bundle: 1])
        }
    }

    @Test("that crashes in every request is tried twice, then reported")
    func crashInRequest() async throws {
        try await expectFailure("crash-in-request") { error in
            guard case .crashed(_, "reindex everything", .signalled(SIGSEGV), _) = error else { return false }
            return true
        }
    }

    @Test("that crashes on a drop leaves no file")
    func crashOnDrop() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("crash-in-request")
        try await harness.withEngine { engine async throws in
            _ = try? await engine.reindexAll(bundle)
            let item = try await engine.item(named: "one")
            let before = try FileManager.default.contentsOfDirectory(atPath: harness.folder)
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.html"], to: .file(path: harness.folder + "/drop"))
            }
            guard case .extension(.crashed)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: harness.folder) == before)
        }
    }

    @Test("with an answer of the wrong kind is reported")
    func wrongAnswer() async throws {
        try await expectFailure("wrong-answer") { error in
            guard case .failed(_, _, .failed, let message) = error else { return false }
            return message.contains("another kind of answer")
        }
    }

    @Test("that acknowledges twice is acknowledged once, and the rest is noted")
    func acknowledgesTwice() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("acknowledges-twice")
        let (notes, noting) = AsyncStream.makeStream(of: Void.self)
        harness.listen { event in
            if case .misuse(_, .answeredTwice, _) = event { noting.yield() }
        }
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            var count = 0
            for await _ in notes {
                count += 1
                if count == 2 { break }
            }
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("that crashed once is asked again, with the same result")
    func crashOnce() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("crash-once")
        try await harness.withEngine { engine async throws in
            let count = try await engine.reindexAll(bundle)
            #expect(count == 2)
            #expect(engine.owedJobs.isEmpty)
        }
        #expect(harness.retries == 1)
        #expect(harness.messages.contains("the first reindex ends here"))
    }

    @Test("that donates invalid items has these rejected, and its valid items kept")
    func badDonations() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("bad-donations")
        try await harness.withEngine { engine async throws in
            let count = try await engine.reindexAll(bundle)
            #expect(count == 1)
        }
        #expect(harness.messages.contains { $0.hasPrefix("junk: 5 ") })
        #expect(harness.messages.contains("nowhere: refused"))
        #expect(harness.messages.contains { $0.hasPrefix("none: 0") })
        #expect(harness.messages.contains("malformed text: refused"))
    }

    @Test("whose class is missing is reported with the class name")
    func missingClass() async throws {
        let harness = try Harness()
        let bundle = "com.example.missing-class"
        try harness.install(
            bundle, library: try BuiltProducts.journalLibrary(), principalClass: "Journal.NoSuchHandler")
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            guard case .extension(.cannotLoad(_, .cannotCreate, let message))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("Journal.NoSuchHandler"))
        }
    }
}
