// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Synchronization

/// Keeps up with the extensions that come, change and go while the service runs: looks for them when something changes,
/// has those that were added, upgraded, enabled or released donate what they owe, one after the other, and deletes what
/// those left that were removed, when it is time. A reindex that failed is tried again, after waits as ``HealthPolicy``
/// has them.
///
/// Nothing here polls: watching is a thread that waits in the kernel; the next deletion is one timer and the next attempt
/// another, and there is none while nothing is due.
final class ExtensionKeeper: Sendable {
    private struct State {
        var watch: BundleWatch?
        /// What is to be reindexed, in order.
        var waiting: [String] = []
        var isReindexing = false
        var removal: Task<Void, Never>?
        /// Reindexes that failed, by bundle.
        var failed: [String: Failed] = [:]
        var retry: Task<Void, Never>?
        var hasEnded = false
        /// The bundles that are refused, as far as that was told.
        var refusals: Set<ExtensionRegistry.Refusal> = []
    }
    /// A reindex that is still owed.
    private struct Failed {
        var attempts = 0
        /// When to try again; `nil` while it is tried.
        var due: Duration?
    }
    private let state = Mutex(State())
    private let core: ServiceCore
    private let searchPath: [String]
    private let now: @Sendable () -> Double
    private let quiet: Duration
    private let trouble: LogAllowance
    private let refusalsAllowance: LogAllowance
    /// The most refusals that are told at once.
    private static let maximumRefusals = 20
    private let elapsed: @Sendable () -> Duration

    init(_ core: ServiceCore, _ engine: EngineConfiguration, quiet: Duration) {
        self.core = core
        self.quiet = quiet
        searchPath = engine.extensionSearchPath
        now = engine.now
        trouble = core.log.allowance()
        refusalsAllowance = core.log.allowance()
        elapsed = stopwatch(core.clock)
    }

    /// Begins to watch, and does what is due.
    func begin() {
        do throws(BundleWatch.Failure) {
            let watch = try BundleWatch(
                searchPath: searchPath, quiet: quiet, clock: core.clock,
                hold: { [activity = core.activity] in
                    let token = activity.beginRequest()
                    return { token.end() }
                },
                onTrouble: { [core, trouble] in core.log.write(.warning, trouble, $0) },
                onChange: { [weak self] in await self?.look() })
            state.withLock { $0.watch = watch }
        } catch {
            core.log.write(.warning, error.description)
        }
        guard let engine = core.holder.current else { return }
        take(engine)
    }

    /// How many directories are watched.
    var watchedDirectories: Int { state.withLock { $0.watch?.watchedDirectories ?? 0 } }

    /// Takes on an engine that was just opened.
    func take(_ engine: SearchlightEngine) {
        engine.noteWatching(state.withLock { $0.watch != nil })
        // Who lists the extensions has them looked for too, and then they are not found here.
        engine.followExtensions { [weak self, weak engine] changes in
            guard let self, let engine else { return }
            note(changes, engine)
        }
        note(engine.changesAtOpening, engine)
        reindex(engine.unfinishedExtensions)
        postpone(engine.postponedExtensions)
        // What has changed between its look at the extensions and the beginning of the watch.
        state.withLock { $0.watch }?.lookAgain()
    }

    /// Watches no more; what is under way is ended with the other tasks of the service.
    func end() {
        let (watch, timers) = state.withLock { state in
            state.hasEnded = true
            (state.waiting, state.failed) = ([], [:])
            defer { (state.watch, state.removal, state.retry) = (nil, nil, nil) }
            return (state.watch, [state.removal, state.retry])
        }
        watch?.end()
        for timer in timers { timer?.cancel() }
    }

    /// Looks for the extensions, since something has changed.
    private func look() async {
        await use("look for extensions") { engine in
            await engine.refreshExtensions()
            self.scheduleRemovals(engine)
        }
    }

    private func note(_ changes: ExtensionChanges, _ engine: SearchlightEngine) {
        let kinds = [
            ("was added", changes.added), ("was replaced", changes.upgraded), ("is back", changes.restored),
            ("was removed", changes.removed),
        ]
        for (what, bundles) in kinds where !bundles.isEmpty {
            let names = bundles.prefix(20).joined(separator: ", ") + (bundles.count > 20 ? " and others" : "")
            core.log.write(.notice, "\(names) \(what).")
        }
        tellRefusals(of: engine.registry)
        state.withLock { state in
            for bundle in changes.added + changes.upgraded + changes.removed + changes.freed {
                state.failed[bundle] = nil
            }
        }
        reindex((changes.added + changes.upgraded + changes.freed).filter { engine.owedWork(for: $0) != nil })
        let awaited = Set(engine.unfinishedExtensions)
        reindex(changes.restored.filter(awaited.contains))
        scheduleRemovals(engine)
    }

    /// Tells of each bundle that is refused now and was not before, or for another reason.
    private func tellRefusals(of registry: ExtensionRegistry) {
        let present = registry.refusals.filter { refusal in
            // Nothing is wrong with one that another comes before.
            if case .shadowed = refusal.problem { false } else { true }
        }
        let new = state.withLock { state in
            defer { state.refusals = Set(present) }
            return present.filter { !state.refusals.contains($0) }
        }
        for refusal in new.prefix(Self.maximumRefusals) {
            core.log.write(.warning, refusalsAllowance, "\(refusal.path) is refused. \(refusal.problem.description)")
        }
        if new.count > Self.maximumRefusals {
            core.log.write(
                .warning, refusalsAllowance,
                "\(new.count - Self.maximumRefusals) more bundles are refused; searchlight extensions lists them.")
        }
    }

    // MARK: Reindexes that are owed

    /// Has extensions donate everything, after those that wait already.
    private func reindex(_ bundles: [String]) {
        let begins = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.waiting += bundles.filter { !state.waiting.contains($0) }
            guard !state.isReindexing, !state.waiting.isEmpty else { return false }
            state.isReindexing = true
            return true
        }
        guard begins else { return }
        let started = core.background.begin { [self] in
            while let bundle = next() {
                await use("reindex \(bundle)") { engine in
                    do throws(EngineError) {
                        let items = try await engine.reindexOwed(bundle)
                        self.state.withLock { $0.failed[bundle] = nil }
                        guard let items else { return }
                        self.core.log.write(.notice, "\(bundle) has donated; the index has \(items) items of it.")
                    } catch {
                        self.core.log.write(.warning, "The reindex that \(bundle) owes failed. \(error.description)")
                        self.note(error, of: bundle)
                    }
                }
            }
        }
        if started == nil { state.withLock { $0.isReindexing = false } }
    }

    private func next() -> String? {
        state.withLock { state in
            guard !state.waiting.isEmpty, !state.hasEnded else {
                state.isReindexing = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    // MARK: Reindexes that failed

    /// How many are to be tried again.
    var postponedReindexes: Int { state.withLock { state in state.failed.values.count { $0.due != nil } } }

    private func note(_ error: EngineError, of bundle: String) {
        let policy = HealthPolicy()
        state.withLock { state in
            guard !state.hasEnded else { return }
            var failed = state.failed[bundle] ?? Failed()
            let wait: Double
            switch error {
            // Nothing to wait for: a change, a person or the end has to come.
            case .extension(.notFound), .extension(.refused), .extension(.disabled), .extension(.quarantined),
                .extension(.cancelled):
                state.failed[bundle] = nil
                return
            case .extension(.backingOff(_, let backOff, _)): wait = backOff.until - now()
            default:
                failed.attempts = min(failed.attempts + 1, Int(Int32.max))
                wait = policy.delay(afterFailures: failed.attempts)
            }
            failed.due = elapsed() + Self.bounded(wait, policy)
            state.failed[bundle] = failed
        }
        scheduleRetry()
    }

    /// Notes extensions whose reindex failed before this service began, with when they may be asked again.
    private func postpone(_ bundles: [String: Double]) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            for (bundle, moment) in bundles {
                state.failed[bundle, default: Failed()].due = elapsed() + Self.bounded(moment - now(), HealthPolicy())
            }
        }
        scheduleRetry()
    }

    /// A wait in seconds, whatever the clocks say.
    private static func bounded(_ wait: Double, _ policy: HealthPolicy) -> Duration {
        .seconds(min(max(wait, 1), policy.longestDelay))
    }

    private func scheduleRetry() {
        state.withLock { state in
            state.retry?.cancel()
            state.retry = nil
            guard !state.hasEnded, let due = state.failed.values.compactMap(\.due).min() else { return }
            let wait = max(.zero, due - elapsed())
            state.retry = Task { [core, weak self] in
                guard (try? await core.clock.sleep(for: wait)) != nil else { return }
                self?.retryDue()
            }
        }
    }

    private func retryDue() {
        // What is begun counts as a request from here on; the timer of what is left is set before that ends.
        let token = core.activity.beginRequest()
        defer { token.end() }
        let due = state.withLock { state in
            state.retry = nil
            let present = elapsed()
            let due = state.failed.filter { $0.value.due.map { $0 <= present } == true }.keys.sorted()
            for bundle in due { state.failed[bundle]?.due = nil }
            return due
        }
        reindex(due)
        scheduleRetry()
    }

    // MARK: Removed extensions

    /// Sees to it that the next deletion happens when it is due.
    private func scheduleRemovals(_ engine: SearchlightEngine) {
        state.withLock { state in
            // Under the lock, so that an older answer never replaces a newer one.
            let wait = engine.nextRemoval.map { max(0, $0 - now()) }
            state.removal?.cancel()
            state.removal = nil
            guard let wait, !state.hasEnded else { return }
            // The engine's clock may be set meanwhile; then this looks once more.
            state.removal = Task { [core, weak self] in
                guard (try? await core.clock.sleep(for: .seconds(min(wait, Self.longestWait)))) != nil else { return }
                await self?.removeDue()
            }
        }
    }

    /// The longest that is slept at once, in seconds: a year, so that no sum of times overflows.
    private static let longestWait = 366.0 * 86400
    /// How long one that could not be carried out is left, in seconds.
    private static let pauseAfterFailure = 3600.0

    private func removeDue() async {
        // From here on nobody who sets the timer anew ends what it has begun.
        state.withLock { $0.removal = nil }
        await use("delete what removed extensions left") { engine in
            for (bundle, items) in await engine.carryOutRemovals() {
                self.core.log.write(
                    .notice, "\(bundle) was removed for good; its \(items) items were deleted.")
            }
            guard let due = engine.nextRemoval else { return }
            guard due <= self.now() else { return self.scheduleRemovals(engine) }
            self.state.withLock { state in
                guard !state.hasEnded else { return }
                state.removal?.cancel()
                state.removal = Task { [core = self.core, weak self] in
                    guard (try? await core.clock.sleep(for: .seconds(Self.pauseAfterFailure))) != nil else { return }
                    await self?.removeDue()
                }
            }
        }
    }

    /// Does something with the engine, which counts as a request.
    private func use(_ purpose: String, _ body: @escaping @Sendable (SearchlightEngine) async -> Void) async {
        let token = core.activity.beginRequest()
        defer { token.end() }
        do throws(EngineAbsence) {
            try await core.holder.use({ $0 }) { (engine) throws(EngineAbsence) in await body(engine) }
        } catch {
            switch error {
            case .stopped, .cancelled: break
            default: core.log.write(.warning, "Could not \(purpose). \(error.description)")
            }
        }
    }
}
