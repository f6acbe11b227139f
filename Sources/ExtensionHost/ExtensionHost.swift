// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ServiceMessages

/// Asks extensions to do things, each in a worker process of its own, or their apps while these are registered as
/// delegates; and gets over their failures.
///
/// A worker is started when its extension is first asked something, and kept for a while. A request that is under way when
/// its worker crashes is made once more in a fresh worker; then it fails. How extensions behave is noted
/// (``ExtensionHealth``): one that crashes too often is not asked any more, one that failed is left alone for a while by
/// everybody but a person who waits. A delegate that is gone, goes, is too late or does not serve the request leaves it to
/// the next older one, and at last to the extension, which is asked from the start. What a delegate answers otherwise, its
/// refusals too, is the answer. Nothing is held against apps: they are not the host's.
public actor ExtensionHost {
    let configuration: WorkerConfiguration
    private(set) var registry: ExtensionRegistry
    let onEvent: @Sendable (ExtensionEvent) -> Void
    private var isShutDown = false
    private let delegates: LiveDelegates
    let pool: WorkerPool
    let book: HealthBook
    /// What is asked in the background and has to wait.
    nonisolated let paused = PausedBundles()

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - configuration: How workers are started.
    ///   - registry: The extensions there are.
    ///   - delegates: The apps that are asked instead of extensions; `nil` for none.
    ///   - receiver: Keeps what extensions donate.
    ///   - health: Keeps how they behave.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    ///   - onWork: Called when the host begins something that nobody has just asked for; what it gives back lives as long as
    ///     that goes on.
    ///   - onItemsGivenBack: Told of items that were set aside and may be asked for again, since their extension or the host
    ///     has changed; they are owed. Says whether that is written down.
    ///   - onHealthChange: Told that what is known of extensions has changed; called on any thread, must not block.
    ///   - onEvent: Told what happens; called on any thread, must not block.
    public init(
        configuration: WorkerConfiguration, registry: ExtensionRegistry, delegates: LiveDelegates? = nil,
        receiver: any DonationReceiver, health: any HealthStore = MemoryHealthStore(),
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate },
        onWork: @escaping @Sendable () -> any Sendable = { () },
        onItemsGivenBack: @escaping @Sendable (_ bundle: String, _ items: Set<String>) -> Bool = { _, _ in true },
        onHealthChange: @escaping @Sendable () -> Void = {}, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) {
        self.configuration = configuration
        self.registry = registry
        self.onEvent = onEvent
        self.delegates = delegates ?? LiveDelegates(configuration)
        let book = HealthBook(
            health, workerPath: configuration.workerPath, now: now, onItemsGivenBack: onItemsGivenBack,
            onChange: onHealthChange)
        self.book = book
        pool = WorkerPool(
            configuration, receiver: receiver, onEvent: onEvent, onWork: onWork,
            onFailure: { bundle, error in
                guard let kind = error.kindOfStart else { return }
                await Self.note(kind, error, of: bundle, in: book, onEvent)
            })
    }

    /// Tells the delegate of a bundle, or else its running workers, to slow down or that they need not any more. Nobody is
    /// started for it. A worker that is paused (``pauseBackground(_:_:)``) is told when it goes on, and not by this.
    ///
    /// - Parameter notice: Why, and by how much; `nil` when it is over.
    /// - Returns: Whether there was somebody to tell.
    @discardableResult
    public func throttle(_ identifier: String, _ notice: ThrottleNotice?) async -> Bool {
        let request = notice.map(WorkerRequest.didThrottle) ?? .didFinishThrottle
        if await tellDelegate(of: identifier, request) { return true }
        var wasTold = false
        for lease in await pool.running(identifier) {
            let outcome = try? await use(lease) { (worker) throws(ExtensionError) in
                worker.isPaused ? nil : try await worker.perform(request)
            }
            if outcome != nil { wasTold = true }
        }
        return wasTold
    }

    /// Tells the delegate of a bundle something that it need not answer.
    ///
    /// - Returns: Whether there was one.
    func tellDelegate(of identifier: String, _ request: WorkerRequest) async -> Bool {
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
        return false
    }

    /// Ends all workers and waits until they are gone; delegates are asked nothing more.
    public func shutdown() async {
        isShutDown = true
        delegates.close()
        paused.close()
        await pool.shutdown()
    }

    /// Uses other bundles from now on. Workers of bundles that are gone or were replaced finish what is under way.
    public func update(_ registry: ExtensionRegistry) async {
        let before = self.registry
        self.registry = registry
        for bundle in before.extensions where !registry.extensions.contains(bundle) {
            await pool.retire(bundle.identifier)
        }
        // So that nobody is told of a quarantine that is over.
        for bundle in registry.extensions { await book.meet(bundle) }
    }

    /// Asks one responder after the other until one answers.
    func perform(
        _ request: WorkerRequest, _ identifier: String, _ origin: RequestOrigin = .person,
        options: RequestOptions = .standard, onAsking: @Sendable (Donor) -> Void = { _ in }
    ) async throws(ExtensionError) -> [BusValue] {
        let bundle = Result { () throws(ExtensionError) in try registry.bundle(identifier) }
        var asked: Set<DelegateToken> = []
        var problem: ExtensionError?
        while request.isForApps,
            let delegate = nextDelegate(of: identifier, &asked, includingSilent: (try? bundle.get()) == nil)
        {
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
            return try await ask(request, bundle, origin, options)
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
}

extension ExtensionError {
    /// What it says of an extension that its worker could not be started with it; `nil` if nothing.
    fileprivate var kindOfStart: ExtensionHealth.FailureKind? {
        switch self {
        case .crashed: .crashed
        case .memoryExceeded: .memoryExceeded
        case .timedOut: .hung
        case .cannotLoad, .malformedAnswer: .notLoaded
        default: nil
        }
    }
}
