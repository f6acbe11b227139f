// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SearchIndex
import SemanticEmbedding
import Synchronization

/// A store's embedding model, which is mapped when it is needed and unmapped after minutes without
/// use. May be used from any task.
///
/// There is one embedder for search texts and one for background work, so that a search does not
/// wait for a passage to be embedded. Both share the model.
final class SemanticModel: Sendable {
    /// An embedder or a model, and the model's identity.
    private struct Loaded<Value> {
        let identity: String
        let value: Value
    }
    private struct Use {
        var count: UInt64 = 0
        var timer: Task<Void, Never>?
        var hasEnded = false
    }

    private let store: String
    private let clock: any Clock<Duration>
    private let onRelease: @Sendable () -> Void
    private let queries = Mutex<Loaded<TextEmbedder>?>(nil)
    private let passages = Mutex<Loaded<TextEmbedder>?>(nil)
    private let model = Mutex<Loaded<EmbeddingModel>?>(nil)
    private let use = Mutex(Use())

    /// The time without use after which the model is unmapped. It may take up to twice as long.
    static let unusedTime = Duration.seconds(180)

    /// - Parameters:
    ///   - store: The store's folder.
    ///   - onRelease: Called when the model is unmapped.
    init(store: String, clock: any Clock<Duration>, onRelease: @escaping @Sendable () -> Void) {
        (self.store, self.clock, self.onRelease) = (store, clock, onRelease)
    }

    /// The installed model; `nil` if there is none.
    var installed: InstalledModel? { InstalledModel(ofStore: store) }

    /// `true` if the model is mapped.
    var isLoaded: Bool { model.withLock { $0 != nil } }

    // MARK: Use

    /// Returns the meaning of a search text.
    ///
    /// - Throws: ``EngineError/semantic(_:)``.
    func meaning(of text: String, _ model: InstalledModel) async throws(EngineError) -> SearchMeaning {
        noteUse()
        let isCancelled = CancellationFlag()
        let result: Result<SearchMeaning, EmbeddingError> = await isCancelled.during {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async { [self] in
                    let result = embed(with: queries, model) { embedder throws(EmbeddingError) in
                        SearchMeaning(
                            model: model.identity,
                            embedding: try embedder.embed(query: text) { isCancelled.isSet },
                            knownWords: embedder.knownWords(of: text))
                    }
                    continuation.resume(returning: result)
                }
            }
        }
        return try Self.get(result)
    }

    /// Maps the model, so that the next search is faster.
    func prepare(_ model: InstalledModel) async throws(EngineError) { _ = try await meaning(of: "a", model) }

    /// Embeds the passages of items.
    ///
    /// - Parameters:
    ///   - time: The time after which no further passage begins, except the first.
    ///   - isInBackground: `true` to use a thread with idle priority.
    ///   - isPaused: Called before each layer; `true` ends the work.
    /// - Returns: The embedded passages. If the work is paused or the task is cancelled, only the
    ///   finished passages.
    func embed(
        _ jobs: [EmbeddingJob], _ model: InstalledModel, for time: Duration, isInBackground: Bool,
        isPaused: @escaping @Sendable () -> Bool = { false }
    ) async throws(EngineError) -> [EmbeddedPassages] {
        noteUse()
        let isCancelled = CancellationFlag()
        let result: Result<[EmbeddedPassages], EmbeddingError> = await isCancelled.during {
            await withCheckedContinuation { continuation in
                let thread = Thread { [self] in
                    if isInBackground { Self.lowerPriority() }
                    let result = embed(with: passages, model) { embedder throws(EmbeddingError) in
                        try Self.embed(jobs, embedder, until: .now + time) { isCancelled.isSet || isPaused() }
                    }
                    continuation.resume(returning: result)
                }
                thread.name = "embedding"
                thread.start()
            }
        }
        return try Self.get(result)
    }

    private static func embed(
        _ jobs: [EmbeddingJob], _ embedder: borrowing TextEmbedder, until end: ContinuousClock.Instant,
        isStopped: () -> Bool
    ) throws(EmbeddingError) -> [EmbeddedPassages] {
        var embedded: [EmbeddedPassages] = []
        // The first passage has no time limit. On a busy machine, a thread with idle priority may
        // not run before the limit, and no step would embed anything.
        var isFirst = true
        for job in jobs {
            guard isFirst || ContinuousClock.now < end, !isStopped() else { break }
            let all = embedder.passages(title: job.text.title, text: job.text.text)
            var done = EmbeddedPassages(job: job, passages: [], isComplete: true)
            for passage in all.dropFirst(job.embedded) {
                guard isFirst || ContinuousClock.now < end, !isStopped() else {
                    done.isComplete = false
                    break
                }
                let vector: QuantizedEmbedding
                do throws(EmbeddingError) {
                    vector = QuantizedEmbedding(try embedder.embed(passage, isCancelled: isStopped))
                } catch .cancelled {
                    done.isComplete = false
                    break
                }
                done.passages.append(
                    .init(range: passage.range, scale: vector.scale, components: vector.components))
                isFirst = false
            }
            embedded.append(done)
        }
        return embedded
    }

    /// Runs a closure with an embedder for a model, which is mapped if necessary.
    private func embed<Value: Sendable>(
        with place: borrowing Mutex<Loaded<TextEmbedder>?>, _ model: InstalledModel,
        _ body: (TextEmbedder) throws(EmbeddingError) -> Value
    ) -> Result<Value, EmbeddingError> {
        place.withLock { loaded in
            do throws(EmbeddingError) {
                if let known = loaded, known.identity == model.identity { return .success(try body(known.value)) }
                loaded = nil
                let embedder = TextEmbedder(model: try mapped(model))
                loaded = Loaded(identity: model.identity, value: embedder)
                return .success(try body(embedder))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Returns the model in memory, which is mapped if necessary.
    private func mapped(_ installed: InstalledModel) throws(EmbeddingError) -> EmbeddingModel {
        let result: Result<EmbeddingModel, EmbeddingError> = model.withLock { loaded in
            if let loaded, loaded.identity == installed.identity { return .success(loaded.value) }
            loaded = nil
            do throws(EmbeddingError) {
                let folder = try ModelFolder(path: InstalledModel.folder(ofStore: store))
                let model = try EmbeddingModel(folder: folder)
                loaded = Loaded(identity: installed.identity, value: model)
                return .success(model)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func get<Value>(_ result: Result<Value, EmbeddingError>) throws(EngineError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(.cancelled): throw .extension(.cancelled)
        case .failure(let error): throw .semantic(error.description)
        }
    }

    /// `SCHED_IDLE`, a macro that Glibc declares only for C programs with extensions.
    private static let idleClass: Int32 = 5

    /// Lets every other thread on the machine run first.
    private static func lowerPriority() {
        var parameter = sched_param()
        _ = sched_setscheduler(0, Self.idleClass, &parameter)
    }

    // MARK: Release

    /// Unmaps the model. A use in progress finishes first.
    func release() {
        queries.withLock { $0 = nil }
        passages.withLock { $0 = nil }
        model.withLock { $0 = nil }
        onRelease()
    }

    /// Stops the timer.
    func close() {
        use.withLock { use in
            use.hasEnded = true
            use.timer?.cancel()
        }
    }

    /// Records a use, so that the model is unmapped some time after the last use.
    func noteUse() {
        use.withLock { use in
            use.count += 1
            guard use.timer == nil, !use.hasEnded else { return }
            let count = use.count
            use.timer = Task { [weak self, clock] in
                var known = count
                while (try? await clock.sleep(for: Self.unusedTime)) != nil, let self {
                    guard let count = self.countUnlessUnused(known) else { return self.release() }
                    known = count
                }
            }
        }
    }

    /// Returns the number of uses. Returns `nil` and ends the timer if there were none since
    /// `known`.
    private func countUnlessUnused(_ known: UInt64) -> UInt64? {
        use.withLock { use in
            guard use.count == known else { return use.count }
            use.timer = nil
            return nil
        }
    }
}

/// A flag through which a thread outside of tasks learns that its task was cancelled.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func during<Value: Sendable>(_ body: () async -> Value) async -> Value {
        await withTaskCancellationHandler {
            await body()
        } onCancel: {
            flag.store(true, ordering: .relaxed)
        }
    }
}
