// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling

/// Called by a job between its steps. It may wait; `false` stops the job.
package typealias JobCheckpoint = @Sendable () async -> Bool

extension SearchlightEngine {
    /// Returns the pending jobs that could run now: reindexes of bundles with an extension or a
    /// registered app, and due maintenance. Jobs that run outside
    /// ``run(_:origin:checkpoint:isPaused:)`` are omitted.
    ///
    /// Does not read from the disk. May be called from any thread.
    package func scheduledJobs() -> [ScheduledJob] {
        let outlook = outlook.withLock { $0 }
        let health = host.health
        let reindexes = jobStore.jobs.compactMap { job -> ScheduledJob? in
            guard isAskable(job.bundle),
                outlook.running.contains(job.bundle) || !self.reindexes.isUnderWay(job.bundle)
            else { return nil }
            return scheduled(job, health[job.bundle], outlook)
        }
        let maintenance = MaintenanceTask.allCases.compactMap { task -> ScheduledJob? in
            guard let since = outlook.due[task] else { return nil }
            var job = ScheduledJob(key: .maintenance(task), urgency: .maintenance, requested: since)
            job.notBefore = outlook.postponement(of: job.key)
            job.isResumable = true
            return job
        }
        return reindexes + fileJobs(health, outlook) + encryptedJobs(health, outlook) + maintenance
    }

    private func scheduled(_ job: Job, _ health: ExtensionHealth?, _ outlook: Outlook) -> ScheduledJob {
        var scheduled = ScheduledJob(
            key: .reindex(bundle: job.bundle), urgency: job.urgency, requested: job.requested)
        scheduled.deadline = job.deadline
        scheduled.isResumable = job.place != nil
        var moments = [job.notBefore, outlook.postponement(of: scheduled.key)]
        // A registered app receives requests regardless of its extension's health.
        if !delegates.isRegistered(for: job.bundle), let health {
            moments.append(health.backOff?.until)
            scheduled.refusal = health.refusal
        }
        if job.work == .reindexAll, scheduled.refusal == nil, waitsForUnlocking(job, outlook) {
            scheduled.refusal = .locked
        }
        scheduled.notBefore = moments.compactMap { $0 }.max()
        return scheduled
    }

    /// Records pending work for a bundle, for the scheduler; see
    /// ``run(_:origin:checkpoint:isPaused:)``.
    ///
    /// - Throws: ``EngineError``; the work is then not recorded.
    package func owe(_ work: Job.Work, of bundle: String, cause: Job.Cause) throws(EngineError) {
        let job = Job(bundle: bundle, work: work, requested: configuration.now(), cause: cause)
        try jobStore.update { $0.add(job) }
    }

    /// Returns `true` if everything that is known of a bundle is encrypted and locked, so that
    /// nobody is asked for its items.
    func isWhollyLocked(_ bundle: String, _ outlook: Outlook) -> Bool {
        outlook.whollyLocked.contains(bundle) && vault.isLocked(bundle)
            && !scheduleStore.state.hasPlainItems(bundle)
    }

    /// Returns `true` if a reindex of everything is of no use before the next unlocking: nobody may
    /// be asked, or the lock has rejected donations since the request.
    private func waitsForUnlocking(_ job: Job, _ outlook: Outlook) -> Bool {
        if isWhollyLocked(job.bundle, outlook) { return true }
        guard let stale = scheduleStore.state.encrypted?[job.bundle]?.staleSince else { return false }
        return vault.index == nil && job.requested <= stale
    }

    /// Returns `true` if a bundle has a registered delegate or an index extension.
    func isAskable(_ bundle: String) -> Bool {
        if delegates.isRegistered(for: bundle) { return true }
        return (try? registry.bundle(bundle))?.manifest.extensionPoints.contains(.index) == true
    }

    /// Makes a maintenance task due now.
    package func owe(_ task: MaintenanceTask) {
        let now = configuration.now()
        outlook.withLock { $0.due[task] = min($0.due[task] ?? now, now) }
        jobsFollower.tell()
    }

    /// Sets the handler that is called whenever ``scheduledJobs()``, ``nextLook`` or
    /// ``throttledBundles`` may have changed; `nil` removes it. It is called on any thread without
    /// holding a lock, possibly later and once for several changes; it must not block.
    package func onJobsChange(_ handler: (@Sendable () -> Void)?) { jobsFollower.follow(handler) }

    /// Runs a pending job now.
    ///
    /// - Parameters:
    ///   - key: The job. A job that is no longer pending counts as done.
    ///   - origin: The origin of the request. Background requests respect the extension's back-off.
    ///   - checkpoint: Called between maintenance steps and reindex pages. Use
    ///     ``pauseBackground(_:_:)`` and ``endBackground(_:)`` to pause and end a request to the
    ///     extension.
    ///   - isPaused: Ends a long maintenance step early if it returns `true`; the task then waits
    ///     at the checkpoint. Called on any thread.
    /// - Returns: The bundle's item count after the job; `nil` for maintenance, or if no work was
    ///   pending.
    /// - Throws: ``EngineError``; the job then stays pending. Unless it was cancelled,
    ///   ``ScheduledJob/notBefore`` or ``ScheduledJob/refusal`` says what it waits for.
    ///   ``EngineError/alreadyReindexing(_:)`` if another caller runs it.
    @discardableResult
    package func run(
        _ key: ScheduledJob.Key, origin: RequestOrigin = .background,
        checkpoint: @escaping JobCheckpoint = { true }, isPaused: @escaping @Sendable () -> Bool = { false }
    ) async throws(EngineError) -> Int? {
        // A report of file changes runs in parallel with other jobs, so it must not resume the
        // indexing of another, paused bundle.
        if case .files = key {} else { index.hold(nil) }
        let isInBackground = origin == .background
        noteRun(1, isInBackground)
        defer { noteRun(-1, isInBackground) }
        do throws(EngineError) {
            let items: Int?
            switch key {
            case .reindex(let bundle):
                items = try await running(bundle, origin) { [self] () throws(EngineError) in
                    try await reindexOwed(bundle, origin: origin, checkpoint: checkpoint)
                }
            case .files(let bundle):
                items = try await running(bundle, origin) { [self] () throws(EngineError) in
                    var update = FileUpdate(bundle: bundle)
                    let isRecent = files?.pending[bundle]?.isRecent == true
                    try await updateFiles(of: bundle, origin, isRecent ? .recent : .all, &update, checkpoint)
                    return nil
                }
            case .encrypted(let bundle):
                items = try await running(bundle, origin) { [self] () throws(EngineError) in
                    try await reindexEncrypted(of: bundle, origin, checkpoint)
                }
            case .maintenance(let task):
                try await maintain(task, checkpoint: checkpoint, isPaused: isPaused)
                items = nil
            }
            outlook.withLock { $0.noteSuccess(of: key) }
            return items
        } catch {
            switch error {
            case .extension(.cancelled), .alreadyReindexing, .protection(.locked): break
            default: postponeIfNeeded(key)
            }
            throw error
        }
    }

    private func noteRun(_ count: Int, _ isInBackground: Bool) {
        let isGentle = outlook.withLock { outlook in
            outlook.runs.all += count
            if isInBackground { outlook.runs.inBackground += count }
            return outlook.isGentle
        }
        index.setGentle(isGentle)
    }

    /// Runs a request to a bundle's extension. At most one such request per extension runs at a
    /// time.
    private func running(
        _ bundle: String, _ origin: RequestOrigin, _ body: @escaping @Sendable () async throws(EngineError) -> Int?
    ) async throws(EngineError) -> Int? {
        let work = outlook.withLock { outlook -> Task<Result<Int?, EngineError>, Never>? in
            guard outlook.running.insert(bundle).inserted else { return nil }
            // The task is created under the lock, so that a user's request always finds it.
            let work = Task { () -> Result<Int?, EngineError> in
                do throws(EngineError) { return .success(try await body()) } catch { return .failure(error) }
            }
            if origin == .background { outlook.inBackground[bundle] = work }
            return work
        }
        guard let work else { throw .alreadyReindexing(bundle) }
        defer {
            outlook.withLock { outlook in
                outlook.running.remove(bundle)
                outlook.inBackground[bundle] = nil
            }
            jobsFollower.tell()
        }
        return try await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }.get()
    }

    /// Postpones a failed job, unless its failure has already postponed it, so that it is not
    /// retried immediately.
    private func postponeIfNeeded(_ key: ScheduledJob.Key) {
        let now = configuration.now()
        let job = scheduledJobs().first { $0.key == key }
        if let job, job.refusal != nil || job.notBefore.map({ $0 > now }) == true { return }
        outlook.withLock { $0.postpone(key, now: now) }
        jobsFollower.tell()
    }
}
