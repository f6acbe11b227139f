// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The workers of a host. They are started on demand, kept for a while when idle, and limited in
/// number.
actor WorkerPool {
    /// The start of a worker, with its result.
    typealias Start = Task<Result<RunningWorker, ExtensionError>, Never>

    /// The use of a worker by one request.
    struct Lease: Sendable {
        let number: UInt64
        let origin: RequestOrigin
        let start: Start
        /// `true` if the worker was started for this use.
        var isNew = false
    }
    let configuration: WorkerConfiguration
    let processes = WorkerProcesses()
    private let receiver: any DonationReceiver
    private let onEvent: @Sendable (ExtensionEvent) -> Void
    private let onWork: @Sendable () -> any Sendable
    /// Called with workers that could not be started.
    private let onFailure: @Sendable (ExtensionBundle, ExtensionError) async -> Void
    private let elapsed: @Sendable () -> Duration
    /// A worker, and the bundle that it was started for.
    private struct Held {
        let bundle: ExtensionBundle
        let start: Start
        let loaded: Loaded
    }
    /// The worker that a start produces, once it is loaded.
    private final class Loaded: Sendable { let worker = Mutex<RunningWorker?>(nil) }
    /// The workers by origin. A process at idle priority cannot raise its priority again without
    /// privileges, so interactive requests have their own workers.
    private var persons = WorkerPoolState<Held>()
    private var background = WorkerPoolState<Held>()
    /// Workers that are being terminated.
    private var endings: [UInt64: Task<Void, Never>] = [:]
    private var lastEnding: UInt64 = 0
    private var timer: Task<Void, Never>?
    /// Interactive requests that wait for a free worker, oldest first.
    private var waiting: [(number: UInt64, free: CheckedContinuation<Void, Never>)] = []
    private var lastWaiting: UInt64 = 0
    /// The requests that wait for a slot, or that terminate an idle worker to get its slot, in
    /// order.
    private var lines: [RequestOrigin: [UInt64]] = [:]
    private var lastInLine: UInt64 = 0
    private var isShutDown = false

    /// The maximum number of requests that may wait for a free worker.
    private static let maximumWaiting = 256

    init(
        _ configuration: WorkerConfiguration, receiver: any DonationReceiver,
        onEvent: @escaping @Sendable (ExtensionEvent) -> Void, onWork: @escaping @Sendable () -> any Sendable,
        onFailure: @escaping @Sendable (ExtensionBundle, ExtensionError) async -> Void
    ) {
        self.configuration = configuration
        self.receiver = receiver
        self.onEvent = onEvent
        self.onWork = onWork
        self.onFailure = onFailure
        elapsed = stopwatch(configuration.clock)
    }

    var count: Int { RequestOrigin.allCases.reduce(0) { $0 + self[$1].count } }

    private subscript(origin: RequestOrigin) -> WorkerPoolState<Held> {
        get { origin == .person ? persons : background }
        _modify { if origin == .person { yield &persons } else { yield &background } }
    }

    /// The number of requests that wait for a free worker.
    var waitingCount: Int { waiting.count }

    /// Returns a lease on a bundle's worker, and starts a worker if there is none. Concurrent
    /// requests share a worker. Return the lease with ``giveBack(_:isUsable:)``. Background
    /// requests have their own workers, which occupy no slot for interactive requests.
    ///
    /// - Throws: ``ExtensionError/workerUnavailable(reason:)`` if all slots are in use; for an
    ///   interactive request only after waiting for ``WorkerConfiguration/Limits/place``.
    func lease(_ bundle: ExtensionBundle, _ origin: RequestOrigin) async throws(ExtensionError) -> Lease {
        let limits = configuration.limits
        let most = origin == .person ? limits.workers : limits.backgroundWorkers
        let begun = elapsed()
        var own: UInt64?
        defer { if let own { leaveLine(own, origin) } }
        while true {
            guard !isShutDown, !Task.isCancelled else { throw .cancelled }
            if let (number, held) = self[origin].begin(bundle.identifier) {
                if held.bundle == bundle { return Lease(number: number, origin: origin, start: held.start) }
                // The worker was started for the old version of the bundle after the bundle's
                // workers were retired.
                _ = self[origin].retire(number)
                if let old = self[origin].end(number, now: elapsed()) { await end(old) }
                continue
            }
            // Earlier requests in the line have priority for free slots and idle workers.
            let line = lines[origin] ?? []
            let before = own.flatMap { line.firstIndex(of: $0) } ?? line.count
            guard self[origin].count + before >= most else { break }
            if self[origin].idleCount > before, let idle = self[origin].takeLeastRecentlyUsed() {
                own = own ?? joinLine(origin)
                // The bundle's own worker may have been started during this wait, so everything is
                // checked again.
                await end(idle)
                continue
            }
            if origin == .person {
                guard self[origin].count + before >= most + limits.reserve else { break }
                let left = limits.place - (elapsed() - begun)
                if left > .zero, waiting.count < Self.maximumWaiting {
                    own = own ?? joinLine(origin)
                    await waitForPlace(atMost: left)
                    continue
                }
            }
            throw .workerUnavailable(
                reason:
                    "All \(self[origin].count) workers are in use. Try again when a request is done.")
        }
        let loaded = Loaded()
        let start = start(bundle, origin, loaded)
        let held = Held(bundle: bundle, start: start, loaded: loaded)
        return Lease(
            number: self[origin].add(held, bundle.identifier, now: elapsed()), origin: origin, start: start, isNew: true
        )
    }

    private func joinLine(_ origin: RequestOrigin) -> UInt64 {
        lastInLine += 1
        lines[origin, default: []].append(lastInLine)
        return lastInLine
    }

    /// Removes a request from the line, so that later requests move up.
    private func leaveLine(_ number: UInt64, _ origin: RequestOrigin) {
        lines[origin]?.removeAll { $0 == number }
        noteFree()
    }

    /// Returns when a worker may be free, the time limit is reached, or the task is cancelled.
    private func waitForPlace(atMost limit: Duration) async {
        lastWaiting += 1
        let number = lastWaiting
        let timer = Task { [clock = configuration.clock] in
            try? await clock.sleep(for: limit)
            self.endWaiting(number)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append((number, $0)) }
        } onCancel: {
            // Cancelling the sleep ends it at once, and thereby the wait.
            timer.cancel()
        }
        timer.cancel()
    }

    private func endWaiting(_ number: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).free.resume()
    }

    /// Resumes the waiting requests in order, so that they check again. A request that finds no
    /// slot waits again.
    private func noteFree() {
        let all = waiting
        waiting = []
        for one in all { one.free.resume() }
    }

    private func start(_ bundle: ExtensionBundle, _ origin: RequestOrigin, _ loaded: Loaded) -> Start {
        Task { [configuration, receiver, onEvent, onWork, onFailure, processes] in
            let work = onWork()
            defer { withExtendedLifetime(work) {} }
            do throws(ExtensionError) {
                let worker = try await RunningWorker.start(
                    bundle, configuration, origin, processes, receiver: receiver, onWork: onWork, onEvent: onEvent)
                loaded.worker.withLock { $0 = worker }
                return .success(worker)
            } catch {
                // Called once, regardless of how many requests wait for the start.
                await onFailure(bundle, error)
                return .failure(error)
            }
        }
    }

    /// Returns leases on a bundle's running workers. Starts no worker.
    func running(_ identifier: String) -> [Lease] {
        RequestOrigin.allCases.compactMap { origin in
            self[origin].begin(identifier).map {
                Lease(number: $0.number, origin: origin, start: $0.worker.start)
            }
        }
    }

    /// Returns the starts of a bundle's background workers, including workers that are being
    /// retired.
    func backgroundStarts(of identifier: String) -> [Start] { self[.background].all(identifier).map(\.start) }

    /// Returns the bundle's background workers that are already loaded.
    func backgroundWorkers(of identifier: String) -> [RunningWorker] {
        self[.background].all(identifier).compactMap { held in held.loaded.worker.withLock { $0 } }
    }

    /// Ends a lease.
    ///
    /// - Parameter isUsable: `true` if the worker can serve more requests.
    func giveBack(_ lease: Lease, isUsable: Bool) async {
        if !isUsable { _ = self[lease.origin].retire(lease.number) }
        let worker = self[lease.origin].end(lease.number, now: elapsed())
        noteFree()
        if let worker { await end(worker) }
        watch()
    }

    /// Retires a bundle's workers: they exit after their requests in progress, and new requests get
    /// fresh workers.
    func retire(_ identifier: String, _ origins: [RequestOrigin] = RequestOrigin.allCases) async {
        let idle = origins.compactMap { self[$0].retire(identifier) }
        for worker in idle { await end(worker) }
    }

    /// Terminates all workers, and waits until they have exited.
    func shutdown() async {
        isShutDown = true
        timer?.cancel()
        noteFree()
        let all = RequestOrigin.allCases.flatMap { self[$0].takeAll() }
        // The workers are terminated concurrently.
        await withTaskGroup(of: Void.self) { group in
            for held in all { group.addTask { await Self.end(held.start) } }
        }
        for ending in endings.values { await ending.value }
    }

    private func end(_ held: Held) async {
        lastEnding += 1
        let number = lastEnding
        // The caller's task may be cancelled, but a shutdown waits until this worker has exited.
        let ending = Task { await Self.end(held.start) }
        endings[number] = ending
        await ending.value
        endings[number] = nil
    }

    private static func end(_ worker: Start) async {
        // Cancels the load of a worker that is still loading instead of waiting for it.
        worker.cancel()
        if case .success(let worker) = await worker.value { await worker.stop() }
    }

    /// Starts the timer that terminates idle workers. There is at most one timer, and none if no
    /// worker is idle.
    private func watch() {
        let deadlines = RequestOrigin.allCases.compactMap { origin in
            configuration.limits.linger(origin).flatMap { self[origin].nextDeadline($0) }
        }
        guard timer == nil, !isShutDown, let deadline = deadlines.min() else { return }
        let wait = max(.zero, deadline - elapsed())
        timer = Task { [clock = configuration.clock, weak self] in
            guard (try? await clock.sleep(for: wait)) != nil else { return }
            await self?.endIdle()
        }
    }

    private func endIdle() async {
        let work = onWork()
        defer { withExtendedLifetime(work) {} }
        timer = nil
        let idle = RequestOrigin.allCases.flatMap { origin in
            configuration.limits.linger(origin).map { self[origin].takeIdle(for: $0, now: elapsed()) } ?? []
        }
        watch()
        for worker in idle { await end(worker) }
    }
}
