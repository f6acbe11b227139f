// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// Asks extensions to do things, each in a worker process of its own, or their apps while these are registered as
/// delegates; and gets over their failures.
///
/// A worker is started when its extension is first asked something and kept until ``shutdown()``. A request that is
/// under way when its worker crashes is made once more in a fresh worker; then it fails. A delegate that is gone, goes, is
/// too late or does not serve the request leaves it to the next older one, and at last to the extension, which is asked
/// from the start. What a delegate answers otherwise, its refusals too, is the answer.
public actor ExtensionHost {
    private let configuration: WorkerConfiguration
    private let registry: ExtensionRegistry
    private let receiver: any DonationReceiver
    private let onEvent: @Sendable (ExtensionEvent) -> Void
    private var isShutDown = false
    private var workers: [String: Task<Result<RunningWorker, ExtensionError>, Never>] = [:]
    private let delegates: LiveDelegates

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - configuration: How workers are started.
    ///   - registry: The extensions there are.
    ///   - delegates: The apps that are asked instead of extensions; `nil` for none.
    ///   - receiver: Keeps what extensions donate.
    ///   - onEvent: Told what happens; called on any thread, must not block.
    public init(
        configuration: WorkerConfiguration, registry: ExtensionRegistry, delegates: LiveDelegates? = nil,
        receiver: any DonationReceiver, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) {
        self.configuration = configuration
        self.registry = registry
        self.receiver = receiver
        self.onEvent = onEvent
        self.delegates = delegates ?? LiveDelegates(configuration)
    }

    /// Tells the delegate of a bundle, or else its running worker, to slow down or that it need not any more. Nobody is
    /// started for it.
    ///
    /// - Returns: Whether there was somebody to tell.
    @discardableResult
    public func throttle(_ identifier: String, isThrottled: Bool) async -> Bool {
        let request = isThrottled ? WorkerRequest.didThrottle : .didFinishThrottle
        var asked: Set<DelegateToken> = []
        while let delegate = nextDelegate(of: identifier, &asked, includingSilent: false) {
            do throws(ExtensionError) {
                _ = try await delegate.perform(request)
                return true
            } catch {
                // One that does not listen was told all the same.
                guard case .delegateUnavailable = error else { return true }
            }
        }
        guard let existing = workers[identifier], case .success(let worker) = await existing.value else { return false }
        return (try? await perform(request, with: worker)) != nil
    }

    /// Ends all workers and waits until they are gone; delegates are asked nothing more.
    public func shutdown() async {
        isShutDown = true
        delegates.close()
        let ending = workers
        workers = [:]
        for worker in ending.values {
            if case .success(let worker) = await worker.value { await worker.stop() }
        }
    }

    /// Asks one responder after the other until one answers.
    func perform(
        _ request: WorkerRequest, _ identifier: String, passingOver passedOver: Set<DelegateToken> = [],
        onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) -> [BusValue] {
        let bundle = Result { () throws(ExtensionError) in try registry.bundle(identifier) }
        var asked = passedOver
        var problem: ExtensionError?
        while let delegate = nextDelegate(of: identifier, &asked, includingSilent: (try? bundle.get()) == nil) {
            noteRetry(identifier, after: problem)
            onAsking(.delegate(delegate.token))
            do throws(ExtensionError) {
                return try await delegate.perform(request)
            } catch {
                guard error.isLeftToOthers else { throw error }
                problem = error
            }
        }
        guard !isShutDown else { throw .cancelled }
        switch bundle {
        case .failure(let error): throw problem ?? error
        case .success(let bundle):
            noteRetry(identifier, after: problem)
            onAsking(.worker)
            return try await perform(request, bundle)
        }
    }

    private func nextDelegate(
        of identifier: String, _ asked: inout Set<DelegateToken>, includingSilent: Bool
    ) -> DelegateResponder? {
        guard asked.count < LiveDelegates.maximumAsked else { return nil }
        let next = delegates.newest(for: identifier, excluding: asked, includingSilent: includingSilent)
        if let next { asked.insert(next.token) }
        return next
    }

    private func noteRetry(_ identifier: String, after problem: ExtensionError?) {
        if case .delegateUnavailable? = problem, let problem { onEvent(.retrying(bundle: identifier, after: problem)) }
    }

    private func perform(
        _ request: WorkerRequest, _ bundle: ExtensionBundle
    ) async throws(ExtensionError) -> [BusValue] {
        do throws(ExtensionError) {
            return try await perform(request, with: try await worker(for: bundle))
        } catch {
            guard case .crashed(_, let during, _, _) = error, during != WorkerRequest.loadPurpose, !isShutDown else {
                throw error
            }
            onEvent(.retrying(bundle: bundle.identifier, after: error))
            return try await perform(request, with: try await worker(for: bundle))
        }
    }

    private func perform(
        _ request: WorkerRequest, with worker: RunningWorker
    ) async throws(ExtensionError) -> [BusValue] {
        let identifier = worker.bundle.identifier
        do throws(ExtensionError) {
            return try await worker.perform(request)
        } catch {
            // Whoever failed with this worker removes it, unless another request already has.
            if worker.hasEnded, let current = workers[identifier], case .success(let same) = await current.value,
                same === worker, workers[identifier] == current
            {
                workers[identifier] = nil
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
