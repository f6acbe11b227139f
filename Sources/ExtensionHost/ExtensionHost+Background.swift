// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

extension ExtensionHost {
    /// Has a bundle be quiet in the background: its app, if that is asked instead of the extension, is told and no more; its
    /// background worker is told at once, and frozen after a grace (``WorkerConfiguration/Limits/pauseGrace``). Returns once
    /// it stands still, half a second later at most. What is asked of the bundle in the background from now on waits. What a
    /// person asks is answered by another worker. No time limit counts meanwhile.
    ///
    /// Each pause is followed by ``resumeBackground(_:)`` or ``endBackground(_:)``, whatever its outcome was and also if what
    /// was under way has ended by itself.
    ///
    /// - Parameter notice: Why.
    @discardableResult
    public func pauseBackground(_ identifier: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        paused.pause(identifier)
        let delegate = Task { await tellDelegate(of: identifier, .didThrottle(notice)) }
        let outcome = await pool.pauseBackground(identifier, notice)
        // Whoever let it go on meanwhile found nothing that was paused in one that was being loaded.
        if !paused.contains(identifier) {
            for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        }
        _ = await delegate.value
        return outcome
    }

    /// Lets a bundle go on in the background, and tells it so. Harmless if it was not paused.
    public func resumeBackground(_ identifier: String) async {
        paused.resume(identifier)
        for worker in await pool.backgroundWorkers(of: identifier) { worker.resume() }
        _ = await tellDelegate(of: identifier, .didFinishThrottle)
    }

    /// Ends what is asked of a bundle in the background, as a cancelled request is ended: it is told, asked to end, and then
    /// ended; at once if it is frozen. The requests fail with ``ExtensionError/cancelled`` and are held against nobody. Its
    /// worker ends with them. The bundle is not paused any more. Returns before all that has happened.
    public func endBackground(_ identifier: String) async {
        paused.end(identifier)
        await pool.endBackground(identifier)
    }

    /// What all workers of a bundle that are asked by an origin have cost since this host began, those that have ended too;
    /// `nil` if there was none. None of it ever becomes less, so that differences of two moments lose nothing.
    public nonisolated func usage(of identifier: String, for origin: RequestOrigin) -> WorkerUsage? {
        pool.processes.usage(of: identifier, for: origin)
    }

    /// The processes of all workers, from their start until they were reaped.
    public nonisolated var processIdentifiers: [Int32] { pool.processes.identifiers }

    /// Has a request wait while its bundle is paused, if it is one of the background.
    ///
    /// - Returns: A worker for it. One that was begun when the bundle was just being paused is not used.
    func lease(_ bundle: ExtensionBundle, _ origin: RequestOrigin) async throws(ExtensionError) -> WorkerPool.Lease {
        guard origin == .background else { return try await presentLease(bundle, origin) }
        while true {
            try await paused.pass(bundle.identifier)
            let lease = try await presentLease(bundle, origin)
            // From here on whoever pauses the bundle finds the worker.
            guard paused.contains(bundle.identifier) else { return lease }
            await pool.giveBack(lease, isUsable: false)
        }
    }
}

extension WorkerPool {
    /// Has the background workers of a bundle be quiet, those that are leaving too.
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

    /// A worker once it is loaded; one that takes too long is ended, for nobody could tell it anything.
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
        // It may have been loaded just then, and be at work.
        return try? await start.value.get()
    }

    /// Ends what the background workers of a bundle are asked; they end with it.
    func endBackground(_ identifier: String) async {
        let starts = backgroundStarts(of: identifier)
        await retire(identifier, [.background])
        for start in starts {
            start.cancel()
            if let worker = try? await start.value.get() { worker.endCalls() }
        }
    }
}
