// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ServiceMessages

/// The host of all extensions. It sends requests to extensions, each in its own worker process, and
/// contains their failures.
///
/// A worker starts with the first request to its extension and then stays alive for a while. If a
/// worker crashes during a request, the request is sent once more to a fresh worker; then it fails.
///
/// The health record (``ExtensionHealth``) contains an extension's failures. An extension that
/// crashes too often is quarantined. After other failures it is in back-off and only receives
/// interactive requests.
///
/// An app that is registered as a delegate receives requests before its extension. If the delegate
/// has exited, disconnects, exceeds the limit or does not support the request, the next older
/// delegate is asked, and finally the extension. Any other reply from a delegate is final,
/// including failures. Failures of apps are not recorded, because the host does not run apps.
public actor ExtensionHost {
    let configuration: WorkerConfiguration
    private(set) var registry: ExtensionRegistry
    let onEvent: @Sendable (ExtensionEvent) -> Void
    private var isShutDown = false
    private let delegates: LiveDelegates
    let pool: WorkerPool
    let onWork: @Sendable () -> any Sendable
    let book: HealthBook
    /// The bundles whose background work is paused, and the requests that wait until it resumes.
    nonisolated let paused = PausedBundles()

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - configuration: The worker program, its limits and its environment.
    ///   - registry: The installed extensions.
    ///   - delegates: The apps that receive requests instead of extensions; `nil` for none.
    ///   - receiver: The receiver of all donations from workers.
    ///   - health: The store of the health records.
    ///   - now: Returns the current time, in seconds since 2001-01-01 UTC.
    ///   - onWork: Called when the host starts work that is not part of a request. The host keeps
    ///     the returned value until the work ends.
    ///   - onItemsGivenBack: Called with items that are no longer skip-listed, because their
    ///     extension or the host has changed, and that need a reindex. Returns `true` if they were
    ///     saved as pending.
    ///   - onHealthChange: Called after a health record changed, on any thread; must not block.
    ///   - onEvent: Called with each event, on any thread; must not block.
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
        (self.onEvent, self.onWork) = (onEvent, onWork)
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

    /// Notifies a bundle's delegate, or else its running workers, that it should throttle or stop
    /// throttling. Starts no worker. A paused worker (``pauseBackground(_:_:)``) is skipped and
    /// notified when it resumes.
    ///
    /// - Parameter notice: The reason and the degree; `nil` to stop throttling.
    /// - Returns: `true` if a delegate or a worker was notified.
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

    /// Sends a notification, which needs no reply, to a bundle's delegate.
    ///
    /// - Returns: `true` if the bundle has a delegate.
    func tellDelegate(of identifier: String, _ request: WorkerRequest) async -> Bool {
        var asked: Set<DelegateToken> = []
        while let delegate = nextDelegate(of: identifier, &asked, includingSilent: false) {
            do throws(ExtensionError) {
                _ = try await delegate.perform(request)
                return true
            } catch {
                // A delegate that does not support the notification has received it nevertheless.
                guard case .delegateUnavailable = error else { return true }
            }
        }
        return false
    }

    /// Terminates all workers and waits until they have exited. Delegates receive no further
    /// requests.
    public func shutdown() async {
        isShutDown = true
        delegates.close()
        paused.close()
        await pool.shutdown()
    }

    /// Replaces the registry. Workers of removed or replaced bundles finish their requests in
    /// progress.
    public func update(_ registry: ExtensionRegistry) async {
        let before = self.registry
        self.registry = registry
        for bundle in before.extensions where !registry.extensions.contains(bundle) {
            await pool.retire(bundle.identifier)
        }
        // Ends the quarantines of changed bundles, so that the reported health is current.
        for bundle in registry.extensions { await book.meet(bundle) }
    }

    /// Asks one responder after another until one of them handles the request.
    ///
    /// - Parameter toApps: The request to apps; `nil` for the same request.
    func perform(
        _ request: WorkerRequest, toApps: WorkerRequest? = nil, _ identifier: String, _ origin: RequestOrigin = .person,
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
                return try await delegate.perform(toApps ?? request, isConfidential: options.isConfidential)
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
    /// The kind of failure if a worker did not start; `nil` if it does not count against the
    /// extension.
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
