// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// Asks extensions to do things, each in a worker process of its own, and gets over their failures.
///
/// A worker is started when its extension is first asked something and kept until ``shutdown()``. A request that is
/// under way when its worker crashes is made once more in a fresh worker; then it fails.
public actor ExtensionHost {
    private let configuration: WorkerConfiguration
    private let receiver: any DonationReceiver
    private let onEvent: @Sendable (ExtensionEvent) -> Void
    private var isShutDown = false
    private var workers: [String: Task<Result<RunningWorker, ExtensionError>, Never>] = [:]

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - configuration: How workers are started.
    ///   - receiver: Keeps what extensions donate.
    ///   - onEvent: Told what happens; called on any thread, must not block.
    public init(
        configuration: WorkerConfiguration, receiver: any DonationReceiver,
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) {
        self.configuration = configuration
        self.receiver = receiver
        self.onEvent = onEvent
    }

    /// Has the extension donate everything. Returns once it has acknowledged.
    ///
    /// - Throws: ``ExtensionError``; then the reindex is still owed.
    public func reindexAll(_ bundle: ExtensionBundle) async throws(ExtensionError) {
        _ = try await perform(.reindexAll, bundle)
    }

    /// Has the extension donate again, or delete, some items. Returns once it has acknowledged.
    ///
    /// - Throws: ``ExtensionError``.
    public func reindexItems(_ identifiers: [String], _ bundle: ExtensionBundle) async throws(ExtensionError) {
        _ = try await perform(.reindexItems(identifiers), bundle)
    }

    /// Fulfils a data promise.
    ///
    /// - Throws: ``ExtensionError``.
    public func data(item: String, type: String, _ bundle: ExtensionBundle) async throws(ExtensionError) -> Payload {
        let request = WorkerRequest.provideData(item: item, type: type)
        return try await answer(request, bundle) { (arguments) throws(BusError) in try Payload(&arguments) }
    }

    /// Fulfils a file promise; with the original if `inPlace`.
    ///
    /// - Throws: ``ExtensionError``.
    public func file(
        item: String, type: String, inPlace: Bool, _ bundle: ExtensionBundle
    ) async throws(ExtensionError) -> FileReply {
        let request = WorkerRequest.provideFile(item: item, type: type, inPlace: inPlace)
        return try await answer(request, bundle) { (arguments) throws(BusError) in try FileReply(&arguments) }
    }

    /// Has the extension render an item.
    ///
    /// - Throws: ``ExtensionError``; `unsupported` if it renders none.
    public func preview(
        item: String, query: String?, contentPath: String?, _ bundle: ExtensionBundle
    ) async throws(ExtensionError) -> PreviewReply {
        let request = WorkerRequest.preview(item: item, query: query, contentPath: contentPath)
        return try await answer(request, bundle) { (arguments) throws(BusError) in try PreviewReply(&arguments) }
    }

    /// Ends all workers and waits until they are gone.
    public func shutdown() async {
        isShutDown = true
        let ending = workers
        workers = [:]
        for worker in ending.values {
            if case .success(let worker) = await worker.value { await worker.stop() }
        }
    }

    private func answer<Value>(
        _ request: WorkerRequest, _ bundle: ExtensionBundle,
        _ read: (inout BusArguments) throws(BusError) -> Value
    ) async throws(ExtensionError) -> Value {
        var arguments = BusArguments(try await perform(request, bundle), of: request.member.member)
        do throws(BusError) {
            let value = try read(&arguments)
            try arguments.finish()
            return value
        } catch {
            throw .malformedAnswer(
                identifier: bundle.identifier, during: request.purpose, reason: error.description)
        }
    }

    private func perform(
        _ request: WorkerRequest, _ bundle: ExtensionBundle
    ) async throws(ExtensionError) -> [BusValue] {
        do throws(ExtensionError) {
            return try await performOnce(request, bundle)
        } catch {
            guard case .crashed(_, let during, _, _) = error, during != WorkerRequest.loadPurpose, !isShutDown else {
                throw error
            }
            onEvent(.retrying(bundle: bundle.identifier, after: error))
            return try await performOnce(request, bundle)
        }
    }

    private func performOnce(
        _ request: WorkerRequest, _ bundle: ExtensionBundle
    ) async throws(ExtensionError) -> [BusValue] {
        let worker = try await worker(for: bundle)
        do throws(ExtensionError) {
            return try await worker.perform(request)
        } catch {
            // Whoever failed with this worker removes it, unless another request already has.
            if worker.hasEnded, let current = workers[bundle.identifier], case .success(let same) = await current.value,
                same === worker, workers[bundle.identifier] == current
            {
                workers[bundle.identifier] = nil
            }
            throw error
        }
    }

    /// The running worker of a bundle, or a new one; two requests at once share one.
    private func worker(for bundle: ExtensionBundle) async throws(ExtensionError) -> RunningWorker {
        guard !isShutDown else { throw .cancelled }
        if let existing = workers[bundle.identifier] {
            return try await existing.value.get()
        }
        let starting = Task { [configuration, receiver, onEvent] () -> Result<RunningWorker, ExtensionError> in
            do throws(ExtensionError) {
                return .success(
                    try await RunningWorker.start(bundle, configuration, receiver: receiver, onEvent: onEvent))
            } catch {
                return .failure(error)
            }
        }
        workers[bundle.identifier] = starting
        let result = await starting.value
        if case .failure = result, workers[bundle.identifier] == starting { workers[bundle.identifier] = nil }
        return try result.get()
    }
}
