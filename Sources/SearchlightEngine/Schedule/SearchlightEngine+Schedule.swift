// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling

/// What a job is asked between its steps: it may wait, and says whether to go on.
package typealias JobCheckpoint = @Sendable () async -> Bool

extension SearchlightEngine {
    /// All that is owed now and could be done: reindexes of bundles whose extension is there, or whose app is registered, and
    /// the maintenance that is due. What somebody else than ``run(_:origin:checkpoint:)`` is at is not among it.
    ///
    /// Reads nothing from the disk. May be called from any thread.
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
        return reindexes + fileJobs(health, outlook) + maintenance
    }

    private func scheduled(_ job: Job, _ health: ExtensionHealth?, _ outlook: Outlook) -> ScheduledJob {
        var scheduled = ScheduledJob(
            key: .reindex(bundle: job.bundle), urgency: job.urgency, requested: job.requested)
        scheduled.deadline = job.deadline
        scheduled.isResumable = job.place != nil
        var moments = [job.notBefore, outlook.postponement(of: scheduled.key)]
        // Its app is asked whatever is held against the extension.
        if !delegates.isRegistered(for: job.bundle), let health {
            moments.append(health.backOff?.until)
            scheduled.refusal = health.isDisabled ? .disabled : health.quarantine == nil ? nil : .quarantined
        }
        scheduled.notBefore = moments.compactMap { $0 }.max()
        return scheduled
    }

    /// Writes down that a bundle owes something, to be done when it is time; see ``run(_:origin:checkpoint:)``.
    ///
    /// - Throws: ``EngineError``; then it is not owed.
    package func owe(_ work: Job.Work, of bundle: String, cause: Job.Cause) throws(EngineError) {
        let job = Job(bundle: bundle, work: work, requested: configuration.now(), cause: cause)
        try jobStore.update { $0.add(job) }
    }

    /// Whether there is anybody who could be asked to reindex a bundle.
    func isAskable(_ bundle: String) -> Bool {
        if delegates.isRegistered(for: bundle) { return true }
        return (try? registry.bundle(bundle))?.manifest.extensionPoints.contains(.index) == true
    }

    /// Has maintenance done soon that is not due.
    package func owe(_ task: MaintenanceTask) {
        let now = configuration.now()
        outlook.withLock { $0.due[task] = min($0.due[task] ?? now, now) }
        jobsFollower.tell()
    }

    /// Has somebody told whenever ``scheduledJobs()``, ``nextLook`` or ``throttledBundles`` may have become others; `nil` ends
    /// that. Told on any thread, without a lock held, perhaps later and once for many changes; must not block.
    package func onJobsChange(_ handler: (@Sendable () -> Void)?) { jobsFollower.follow(handler) }

    /// Does what is owed, now.
    ///
    /// - Parameters:
    ///   - key: What to do. What is not owed any more is done already.
    ///   - origin: Who wants it. The engine's own requests heed a back-off of the extension.
    ///   - checkpoint: Asked between steps of maintenance and pages of a reindex. What the extension is asked
    ///     meanwhile is paused by ``pauseBackground(_:_:)`` and stopped by ``endBackground(_:)``.
    /// - Returns: How many items the bundle has then; `nil` of maintenance, and if nothing was owed.
    /// - Throws: ``EngineError``; then it is still owed, and unless it was cancelled, ``ScheduledJob/notBefore`` or
    ///   ``ScheduledJob/refusal`` says what it waits for. ``EngineError/alreadyReindexing(_:)``: somebody else is at it.
    @discardableResult
    package func run(
        _ key: ScheduledJob.Key, origin: RequestOrigin = .background,
        checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Int? {
        // What another bundle has donated is quiet on while files are told beside it.
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
            case .maintenance(let task):
                try await maintain(task, checkpoint: checkpoint)
                items = nil
            }
            outlook.withLock { $0.noteSuccess(of: key) }
            return items
        } catch {
            switch error {
            case .extension(.cancelled), .alreadyReindexing: break
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

    /// Asks a bundle's extension for something of which it is asked one thing at a time.
    private func running(
        _ bundle: String, _ origin: RequestOrigin, _ body: @escaping @Sendable () async throws(EngineError) -> Int?
    ) async throws(EngineError) -> Int? {
        let work = outlook.withLock { outlook -> Task<Result<Int?, EngineError>, Never>? in
            guard outlook.running.insert(bundle).inserted else { return nil }
            // Begun under the lock, so that a person who takes it over finds it wherever it waits.
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

    /// Sees to it that nobody begins again at once with what has just failed, whatever was the reason.
    private func postponeIfNeeded(_ key: ScheduledJob.Key) {
        let now = configuration.now()
        let job = scheduledJobs().first { $0.key == key }
        if let job, job.refusal != nil || job.notBefore.map({ $0 > now }) == true { return }
        outlook.withLock { $0.postpone(key, now: now) }
        jobsFollower.tell()
    }
}
