// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

extension ExtensionHost {
    /// Pauses a bundle's background work. Returns once it is paused, within about half a second.
    ///
    /// If the bundle has a delegate that receives its requests, the delegate is only notified. The
    /// background worker is notified at once and frozen after a grace period
    /// (``WorkerConfiguration/Limits/pauseGrace``). New background requests for the bundle wait.
    /// Another worker handles interactive requests. Paused time does not count towards time limits.
    ///
    /// Follow each pause with ``resumeBackground(_:)`` or ``endBackground(_:)``, regardless of its
    /// outcome, and even if the paused request has ended by itself.
    ///
    /// - Parameter notice: The reason for the pause. It is sent to the extension.
    @discardableResult
    public func pauseBackground(_ identifier: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        paused.pause(identifier)
        let delegate = Task { await tellDelegate(of: identifier, .didThrottle(notice)) }
        let outcome = await pool.pauseBackground(identifier, notice)
        // A resume during the pause cannot reach a worker that is still loading, so such a worker
        // is resumed here.
        if !paused.contains(identifier) {
            for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        }
        _ = await delegate.value
        return outcome
    }

    /// Resumes a bundle's background work and notifies the bundle. Has no effect on workers that
    /// are not paused.
    public func resumeBackground(_ identifier: String) async {
        paused.resume(identifier)
        for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        _ = await tellDelegate(of: identifier, .didFinishThrottle)
    }

    /// Cancels a bundle's background requests and ends its pause.
    ///
    /// Each request is cancelled as usual: a notice, then a request to exit, then a kill; a frozen
    /// worker is killed at once. The requests fail with ``ExtensionError/cancelled``, which does
    /// not count as a failure of the extension. Each worker exits with its request. Returns without
    /// waiting for all of this.
    public func endBackground(_ identifier: String) async {
        paused.end(identifier)
        await pool.endBackground(identifier)
    }

    /// Returns the cost of all workers for a bundle and an origin since this host started,
    /// including exited workers. Returns `nil` if there was none. The counters never decrease, so
    /// the difference between two readings is exact.
    public nonisolated func usage(of identifier: String, for origin: RequestOrigin) -> WorkerUsage? {
        pool.processes.usage(of: identifier, for: origin)
    }

    /// The process identifiers of all workers that are not yet reaped.
    public nonisolated var processIdentifiers: [Int32] { pool.processes.identifiers }

    /// Returns a worker for a request. A background request first waits while its bundle is paused.
    ///
    /// - Returns: A lease on a worker that was not paused while it started.
    func lease(_ bundle: ExtensionBundle, _ origin: RequestOrigin) async throws(ExtensionError) -> WorkerPool.Lease {
        guard origin == .background else { return try await presentLease(bundle, origin) }
        while true {
            try await paused.pass(bundle.identifier)
            let lease = try await presentLease(bundle, origin)
            // From here on, a pause of the bundle affects the worker.
            guard paused.contains(bundle.identifier) else { return lease }
            await pool.giveBack(lease, isUsable: false)
        }
    }
}

extension WorkerPool {
    /// Pauses a bundle's background workers, including those that are being retired.
    func pauseBackground(_ identifier: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        let (limits, clock) = (configuration.limits, configuration.clock)
        return await withTaskGroup(of: PauseOutcome.self) { group in
            for start in backgroundStarts(of: identifier) {
                group.addTask {
                    guard let worker = await Self.worker(of: start, within: limits.pauseGrace, clock) else {
                        return .ended
                    }
                    return await worker.pause(notice)
                }
            }
            var outcomes: [PauseOutcome] = []
            for await outcome in group { outcomes.append(outcome) }
            return PauseOutcome.gravest(outcomes)
        }
    }

    /// Returns a worker once it is loaded. Cancels the start of a worker that is still loading
    /// after `grace`, because a worker cannot receive notices while it loads.
    static func worker(
        of start: Start, within grace: Duration, _ clock: any Clock<Duration>
    ) async -> RunningWorker? {
        let outcome = FirstOutcome<RunningWorker?>()
        let timer = Task {
            guard (try? await clock.sleep(for: grace)) != nil else { return }
            outcome.decide(nil)
        }
        Task { outcome.decide(try? await start.value.get()) }
        defer { timer.cancel() }
        if let worker = await outcome.value() { return worker }
        start.cancel()
        // The worker may have finished loading just now, and may already serve a request.
        return try? await start.value.get()
    }

    /// Cancels the requests of a bundle's background workers. Each worker exits with its request.
    func endBackground(_ identifier: String) async {
        let starts = backgroundStarts(of: identifier)
        await retire(identifier, [.background])
        for start in starts {
            start.cancel()
            if let worker = try? await start.value.get() { worker.endCalls() }
        }
    }
}
