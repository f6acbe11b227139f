// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

extension ExtensionHost {
    /// Pauses a bundle's background work. Returns once it is paused, within about half a second.
    ///
    /// The bundle's delegate, if one is asked instead of the extension, is only notified. The
    /// background worker is notified at once and frozen after a grace
    /// (``WorkerConfiguration/Limits/pauseGrace``). New background requests of the bundle wait.
    /// Another worker answers interactive requests. Time limits do not count during the pause.
    ///
    /// Follow each pause with ``resumeBackground(_:)`` or ``endBackground(_:)``, whatever its
    /// outcome was, and even if the paused request has ended by itself.
    ///
    /// - Parameter notice: The reason for the pause. It is sent to the extension.
    @discardableResult
    public func pauseBackground(_ identifier: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        paused.pause(identifier)
        let delegate = Task { await tellDelegate(of: identifier, .didThrottle(notice)) }
        let outcome = await pool.pauseBackground(identifier, notice)
        // A resume during the pause could not reach a worker that was still loading. It is resumed
        // here.
        if !paused.contains(identifier) {
            for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        }
        _ = await delegate.value
        return outcome
    }

    /// Resumes a bundle's background work and notifies the bundle. Does nothing to workers that
    /// were not paused.
    public func resumeBackground(_ identifier: String) async {
        paused.resume(identifier)
        for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        _ = await tellDelegate(of: identifier, .didFinishThrottle)
    }

    /// Cancels a bundle's background requests and ends its pause.
    ///
    /// Each request is cancelled as usual: a notice, then a request to end, then a kill; a frozen
    /// worker is killed at once. The requests fail with ``ExtensionError/cancelled``, which does
    /// not count as a failure of the extension. The worker ends with them. Returns before all of
    /// this has happened.
    public func endBackground(_ identifier: String) async {
        paused.end(identifier)
        await pool.endBackground(identifier)
    }

    /// Returns the cost of all workers of a bundle and an origin since this host started, including
    /// ended workers. Returns `nil` if there was none. The counters never decrease, so the
    /// difference of two readings is exact.
    public nonisolated func usage(of identifier: String, for origin: RequestOrigin) -> WorkerUsage? {
        pool.processes.usage(of: identifier, for: origin)
    }

    /// The process identifiers of all workers that are not yet reaped.
    public nonisolated var processIdentifiers: [Int32] { pool.processes.identifiers }

    /// Returns a worker for a request. A background request first waits while its bundle is paused.
    ///
    /// - Returns: A lease on a worker that was not caught by a pause while it started.
    func lease(_ bundle: ExtensionBundle, _ origin: RequestOrigin) async throws(ExtensionError) -> WorkerPool.Lease {
        guard origin == .background else { return try await presentLease(bundle, origin) }
        while true {
            try await paused.pass(bundle.identifier)
            let lease = try await presentLease(bundle, origin)
            // From here on, a pause of the bundle finds the worker.
            guard paused.contains(bundle.identifier) else { return lease }
            await pool.giveBack(lease, isUsable: false)
        }
    }
}

extension WorkerPool {
    /// Pauses the background workers of a bundle, including those that are being retired.
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

    /// Returns a worker once it is loaded. A worker that loads for longer than `grace` is ended,
    /// because it cannot receive notices.
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
        // The worker may have finished loading in this moment and already serve a request.
        return try? await start.value.get()
    }

    /// Cancels the requests of a bundle's background workers. Each worker ends with its request.
    func endBackground(_ identifier: String) async {
        let starts = backgroundStarts(of: identifier)
        await retire(identifier, [.background])
        for start in starts {
            start.cancel()
            if let worker = try? await start.value.get() { worker.endCalls() }
        }
    }
}
