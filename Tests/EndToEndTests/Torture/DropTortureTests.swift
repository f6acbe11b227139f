// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// A series of drops through a real worker, of every type and form, cancelled at random, with a
/// worker that sometimes crashes. SEARCHLIGHT_TORTURE_DROPS sets the number; `Scripts/torture` uses
/// its number of rounds.
@Suite("Torture, drops", .serialized)
struct DropTortureTests {
    private static let drops =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_TORTURE_DROPS"].flatMap { Int($0) }
        ?? TortureSettings.rounds ?? 200

    /// A drop, and its outcome without cancellation; `nil` means success.
    private struct Drop {
        var item: String
        var type: String
        var form: Representation.Form
        var end: DragFailure.Kind?
        /// The number of bytes that arrive.
        var bytes: UInt64 = 0

        static func random(_ random: inout SplitMix64) -> Drop {
            // About one in twenty crashes.
            if random.below(20) == 0 {
                let form = random.pick([Representation.Form.data, .file])
                return Drop(
                    item: "crash-1", type: form == .data ? "public.plain-text" : "public.rtf", form: form, end: .crashed
                )
            }
            return random.pick(others)
        }

        private static let others = [
            Drop(item: "data-10", type: "public.plain-text", form: .data, bytes: 10),
            Drop(item: "data-3000000", type: "public.plain-text", form: .data, bytes: 3_000_000),
            Drop(item: "file-0", type: "public.rtf", form: .file),
            Drop(item: "file-70000", type: "public.rtf", form: .file, bytes: 70_000),
            Drop(item: "package-5000", type: "com.apple.package", form: .file, bytes: 5000),
            Drop(item: "original-400", type: "public.data", form: .inPlaceFile, bytes: 400),
            Drop(item: "refuse-1", type: "public.plain-text", form: .data, end: .refused),
            Drop(item: "gone-1", type: "public.rtf", form: .file, end: .notFound),
            Drop(item: "fail-1", type: "public.plain-text", form: .data, end: .failed),
            Drop(item: "unsafe-1", type: "com.apple.package", form: .file, end: .inputOutput),
            Drop(item: "data-10", type: "public.movie", form: .data, end: .unsupportedType),
            Drop(item: "slow-1", type: "public.plain-text", form: .data, end: .cancelled),
        ]
    }

    private static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    @Test(
        "Every outcome is typed and right, and no partial file, descriptor or temporary file stays",
        .timeLimit(.minutes(60)))
    func drops() async throws {
        let harness = try Harness()
        try harness.install("com.example.drops", library: try CFixture.library("drops"))
        let out = harness.folder + "/out"
        let temporary = harness.folder + "/tmp"
        for folder in [out, temporary] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        // Ten minutes pass between two drops, so that no crash counts against a later drop.
        let passed = Mutex(0.0)
        var configuration = EngineConfiguration(
            storeDirectory: harness.store, access: .readWrite, extensionSearchPath: [harness.extensions],
            worker: try harness.workerConfiguration { $0.environment["TMPDIR"] = temporary })
        let begin = Date().timeIntervalSinceReferenceDate
        configuration.now = { begin + passed.withLock { $0 } }
        let engine = try SearchlightEngine(configuration) { _ in }
        _ = try await engine.reindexAll("com.example.drops")
        var random = SplitMix64(seed: TortureSettings.seed)
        var ends: [String: Int] = [:]
        var descriptorsBefore: Int?
        let start = ContinuousClock.now
        for number in 0..<Self.drops {
            passed.withLock { $0 += 600 }
            // Items expire after a month.
            if number % 500 == 499 { _ = try await engine.reindexAll("com.example.drops") }
            let drop = Drop.random(&random)
            let isCancelled = random.below(4) == 0
            let wait = random.below(3000)
            let end = try await carryOut(drop, engine, out: out, cancelledAfter: isCancelled ? wait : nil)
            ends[end, default: 0] += 1
            if number == min(100, Self.drops / 2) { descriptorsBefore = Self.descriptors }
        }
        await engine.close()
        // Counted only if this test runs alone, because other tests in this process open and close
        // descriptors.
        let isCounted = TortureSettings.rounds == nil && Self.drops > 200
        var after = Self.descriptors
        for _ in 0..<200 where isCounted && after > (descriptorsBefore ?? 0) {
            try await Task.sleep(for: .milliseconds(50))
            after = Self.descriptors
        }
        let seconds = ContinuousClock.now - start
        let report = ends.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("Drops: \(Self.drops) in \(seconds); \(report); descriptors \(descriptorsBefore ?? 0) then \(after)")
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary).filter {
            !$0.hasPrefix("searchlight-")
        }
        #expect(left.isEmpty, "\(left); again with \(TortureSettings.repetition)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)
        if isCounted { #expect(after <= (descriptorsBefore ?? 0)) }
    }

    /// Drops one item, and compares the result with the expected outcome.
    private func carryOut(
        _ drop: Drop, _ engine: SearchlightEngine, out: String, cancelledAfter wait: Int?
    ) async throws -> String {
        let item = try await engine.item(named: drop.item)
        let resolution = engine.resolve(item, accepted: [drop.type], forms: [drop.form])
        let name = FileName(title: drop.item, fileExtension: nil)
        let promises = AwaitedPromises(store: StorePromises(engine))
        let session = DragSession(
            promises, items: [.init(item, resolution: resolution, target: .deliver(.folder(path: out, name: name)))])
        // An item that never answers is cancelled.
        let patience = wait ?? (drop.item == "slow-1" ? 2000 : nil)
        let timer = patience.map { microseconds in
            Task {
                try? await Task.sleep(for: .microseconds(microseconds))
                session.cancel()
            }
        }
        let outcome = try #require(await session.drop().first)
        timer?.cancel()
        // A crash is recorded at the time of its report. If it counted against the next drop, it
        // would be a third crash.
        if drop.end == .crashed { await promises.ended() }
        let names = try FileManager.default.contentsOfDirectory(atPath: out)
        switch outcome {
        case .fulfilled(let fulfilment):
            #expect(drop.end == nil && fulfilment.bytes == drop.bytes && names == [drop.item], "\(drop) \(names)")
            try FileManager.default.removeItem(atPath: out + "/" + drop.item)
            return "fulfilled"
        case .failed(let failure):
            #expect(names.isEmpty, "\(drop) left \(names)")
            let isRight = failure.kind == drop.end || (patience != nil && failure.kind == .cancelled)
            #expect(isRight, "\(drop) ended as \(failure.kind): \(failure.message)")
            return failure.kind.rawValue
        }
    }
}

/// A store's promises. Reports the end of the last promise in progress, because a cancelled drop
/// does not wait for it.
private final class AwaitedPromises: PromiseProvider {
    private struct State {
        var underWay = 0
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let store: StorePromises
    private let state = Mutex(State())

    init(store: StorePromises) { self.store = store }

    func prewarm(_ items: [StoredItem]) async { await store.prewarm(items) }

    func fulfil(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        state.withLock { $0.underWay += 1 }
        defer {
            let waiter = state.withLock { state in
                state.underWay -= 1
                return state.underWay == 0 ? state.waiter.take() : nil
            }
            waiter?.resume()
        }
        return try await store.fulfil(promise, of: item, mayRetry: mayRetry, onProgress: onProgress)
    }

    /// Returns when no promise is in progress; supports one drop at a time. Later promises are
    /// already cancelled and send no requests.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.underWay > 0 { state.waiter = continuation }
                return state.underWay == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
