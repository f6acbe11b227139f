// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The workers of a host: started on demand, kept for a while when nobody uses them, and never too many.
actor WorkerPool {
    /// A worker that is being started, or was.
    typealias Start = Task<Result<RunningWorker, ExtensionError>, Never>

    /// A worker in use.
    struct Lease: Sendable {
        let number: UInt64
        let origin: RequestOrigin
        let start: Start
        /// Whether it was started for this use.
        var isNew = false
    }
    let configuration: WorkerConfiguration
    let processes = WorkerProcesses()
    private let receiver: any DonationReceiver
    private let onEvent: @Sendable (ExtensionEvent) -> Void
    private let onWork: @Sendable () -> any Sendable
    /// Told of workers that could not be started.
    private let onFailure: @Sendable (ExtensionBundle, ExtensionError) async -> Void
    private let elapsed: @Sendable () -> Duration
    /// A worker and what it was started with.
    private struct Held {
        let bundle: ExtensionBundle
        let start: Start
        let loaded: Loaded
    }
    /// The worker of a start, once it is loaded.
    private final class Loaded: Sendable { let worker = Mutex<RunningWorker?>(nil) }
    /// By whom they work for. Who has once yielded to everybody cannot go back without privileges, so that persons have workers
    /// of their own.
    private var persons = WorkerShelf<Held>()
    private var background = WorkerShelf<Held>()
    /// Workers that are being ended.
    private var endings: [UInt64: Task<Void, Never>] = [:]
    private var lastEnding: UInt64 = 0
    private var timer: Task<Void, Never>?
    /// Persons who wait for a worker to be free, oldest first.
    private var waiting: [(number: UInt64, free: CheckedContinuation<Void, Never>)] = []
    private var lastWaiting: UInt64 = 0
    /// Who has yet to be given a place, in the order in which they are: who waits, and who ends an idle worker for one.
    private var lines: [RequestOrigin: [UInt64]] = [:]
    private var lastInLine: UInt64 = 0
    private var isShutDown = false

    /// The most requests that may wait for a free worker.
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

    private subscript(origin: RequestOrigin) -> WorkerShelf<Held> {
        get { origin == .person ? persons : background }
        _modify { if origin == .person { yield &persons } else { yield &background } }
    }

    /// How many requests wait for one that is free.
    var waitingCount: Int { waiting.count }

    /// The worker of a bundle, or a new one; two requests at once share one. To be given back. What is asked in the background
    /// has workers of its own, which take no person's place.
    ///
    /// - Throws: ``ExtensionError/workerUnavailable(reason:)`` if there are too many that are all in use; for a person if they
    ///   are so for ``WorkerConfiguration/Limits/place``.
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
                // Whoever came before the bundle was replaced started it, and after its worker was retired.
                _ = self[origin].retire(number)
                if let old = self[origin].end(number, now: elapsed()) { await end(old) }
                continue
            }
            // Whoever came before has a place of those that there are, and a worker of those that nobody uses.
            let line = lines[origin] ?? []
            let before = own.flatMap { line.firstIndex(of: $0) } ?? line.count
            guard self[origin].count + before >= most else { break }
            if self[origin].idleCount > before, let idle = self[origin].takeLeastRecentlyUsed() {
                own = own ?? joinLine(origin)
                // Meanwhile its own may have been started; so everything is looked at once more.
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
                    "\(self[origin].count) workers are in use, and no more may be. Try again once one of them is done.")
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

    /// Lets those move up who came later.
    private func leaveLine(_ number: UInt64, _ origin: RequestOrigin) {
        lines[origin]?.removeAll { $0 == number }
        noteFree()
    }

    /// Returns when a worker may be free, the time is over, or the task is cancelled.
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
            // It ends at once, and with it the waiting.
            timer.cancel()
        }
        timer.cancel()
    }

    private func endWaiting(_ number: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).free.resume()
    }

    /// Has those who wait look again, in their order; who finds nothing waits on.
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
                // Once, however many wait for it.
                await onFailure(bundle, error)
                return .failure(error)
            }
        }
    }

    /// The running workers of a bundle, if there are any, to be given back; none is started.
    func running(_ identifier: String) -> [Lease] {
        RequestOrigin.allCases.compactMap { origin in
            self[origin].begin(identifier).map {
                Lease(number: $0.number, origin: origin, start: $0.worker.start)
            }
        }
    }

    /// The background workers of a bundle, those that are leaving too.
    func backgroundStarts(of identifier: String) -> [Start] { self[.background].all(identifier).map(\.start) }

    /// Those of them that are loaded; nobody waits for the others.
    func backgroundWorkers(of identifier: String) -> [RunningWorker] {
        self[.background].all(identifier).compactMap { held in held.loaded.worker.withLock { $0 } }
    }

    /// Ends the use of a worker.
    ///
    /// - Parameter isUsable: Whether it can be asked more.
    func giveBack(_ lease: Lease, isUsable: Bool) async {
        if !isUsable { _ = self[lease.origin].retire(lease.number) }
        let worker = self[lease.origin].end(lease.number, now: elapsed())
        noteFree()
        if let worker { await end(worker) }
        watch()
    }

    /// Has the workers of a bundle finish what they are doing, and then end; whoever comes now gets a fresh one.
    func retire(_ identifier: String, _ origins: [RequestOrigin] = RequestOrigin.allCases) async {
        let idle = origins.compactMap { self[$0].retire(identifier) }
        for worker in idle { await end(worker) }
    }

    /// Ends all workers, and waits until they are gone.
    func shutdown() async {
        isShutDown = true
        timer?.cancel()
        noteFree()
        let all = RequestOrigin.allCases.flatMap { self[$0].takeAll() }
        // None has to wait for another to be gone.
        await withTaskGroup(of: Void.self) { group in
            for held in all { group.addTask { await Self.end(held.start) } }
        }
        for ending in endings.values { await ending.value }
    }

    private func end(_ held: Held) async {
        lastEnding += 1
        let number = lastEnding
        // Whoever has it ended may be cancelled; and a shutdown waits for it.
        let ending = Task { await Self.end(held.start) }
        endings[number] = ending
        await ending.value
        endings[number] = nil
    }

    private static func end(_ worker: Start) async {
        // One that is just being loaded is not waited for.
        worker.cancel()
        if case .success(let worker) = await worker.value { await worker.stop() }
    }

    /// Sees to it that idle workers are ended: one timer, and none while there is nothing to end.
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
