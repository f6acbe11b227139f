// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Synchronization

/// Tracks added, changed and removed extensions while the service runs. It searches for extensions
/// after each change, logs the differences, and deletes the items of removed extensions after the
/// grace period. The scheduler runs the resulting reindexes.
///
/// It does not poll. A thread waits for inotify events, and a single timer is armed for the next
/// deletion, if there is one.
final class ExtensionKeeper: Sendable {
    private struct State {
        var watch: BundleWatch?
        var removal: Task<Void, Never>?
        var hasEnded = false
        /// The rejected bundles that were logged.
        var refusals: Set<ExtensionRegistry.Refusal> = []
    }
    private let state = Mutex(State())
    private let core: ServiceCore
    private let searchPath: [String]
    private let now: @Sendable () -> Double
    private let quiet: Duration
    private let onChange: @Sendable () -> Void
    private let trouble: LogAllowance
    private let refusalsAllowance: LogAllowance
    /// The maximum number of rejected bundles in one batch of log lines.
    private static let maximumRefusals = 20

    /// Creates a keeper, which is inactive until ``begin()``.
    ///
    /// - Parameter onChange: Called when the set of extensions has changed.
    init(
        _ core: ServiceCore, _ engine: EngineConfiguration, quiet: Duration,
        onChange: @escaping @Sendable () -> Void = {}
    ) {
        self.core = core
        self.quiet = quiet
        self.onChange = onChange
        searchPath = engine.extensionSearchPath
        now = engine.now
        trouble = core.log.allowance()
        refusalsAllowance = core.log.allowance()
    }

    /// Starts the watch and the timer for deletions.
    func begin() {
        do throws(BundleWatch.Failure) {
            let watch = try BundleWatch(
                searchPath: searchPath, quiet: quiet, clock: core.clock,
                hold: { [activity = core.activity] in
                    let token = activity.beginRequest(of: .service)
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

    var watchedDirectories: Int { state.withLock { $0.watch?.watchedDirectories ?? 0 } }

    /// Connects to an engine that was just opened.
    func take(_ engine: SearchlightEngine) {
        engine.noteWatching(state.withLock { $0.watch != nil })
        // The handler also covers changes that are found by requests that list the extensions.
        engine.followExtensions { [weak self, weak engine] changes in
            guard let self, let engine else { return }
            note(changes, engine)
            if !changes.isEmpty { onChange() }
        }
        note(engine.changesAtOpening, engine)
        // Finds changes between the engine's search and the start of the watch.
        state.withLock { $0.watch }?.lookAgain()
    }

    /// Ends the watch and the timer.
    func end() {
        let (watch, timer) = state.withLock { state in
            state.hasEnded = true
            defer { (state.watch, state.removal) = (nil, nil) }
            return (state.watch, state.removal)
        }
        watch?.end()
        timer?.cancel()
    }

    /// Searches for extensions after a change.
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
        scheduleRemovals(engine)
    }

    /// Logs each bundle that is newly rejected, or rejected for a different reason.
    private func tellRefusals(of registry: ExtensionRegistry) {
        let present = registry.refusals.filter { refusal in
            // A bundle that is shadowed by another bundle is not a problem.
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
                "\(new.count - Self.maximumRefusals) more bundles are refused. To list them: searchlight extensions")
        }
    }

    // MARK: Removed extensions

    /// Arms the timer for the next deletion.
    private func scheduleRemovals(_ engine: SearchlightEngine) {
        state.withLock { state in
            // Computed under the lock, so that an older result never replaces a newer one.
            let wait = engine.nextRemoval.map { max(0, $0 - now()) }
            state.removal?.cancel()
            state.removal = nil
            guard let wait, !state.hasEnded else { return }
            // If the engine's clock is set during the wait, the handler finds nothing due and arms
            // the timer again.
            setTimer(min(wait, Self.longestWait), &state)
        }
    }

    private func setTimer(_ seconds: Double, _ state: inout State) {
        state.removal = core.clock.timer(after: .seconds(seconds)) { [weak self] in
            Task { await self?.removeDue() }
        }
    }

    /// The maximum duration of the timer in seconds: one year, so that no sum of times overflows.
    private static let longestWait = 366.0 * 86400
    /// The delay in seconds before a failed deletion is tried again.
    private static let pauseAfterFailure = 3600.0

    private func removeDue() async {
        // Clears the timer, so that a later change to the timer does not cancel this task.
        state.withLock { $0.removal = nil }
        await use("delete the items of removed extensions") { engine in
            for (bundle, items) in await engine.carryOutRemovals() {
                self.core.log.write(
                    .notice, "\(bundle) is no longer installed; its \(items) items were deleted.")
            }
            guard let due = engine.nextRemoval else { return }
            guard due <= self.now() else { return self.scheduleRemovals(engine) }
            self.state.withLock { state in
                guard !state.hasEnded else { return }
                state.removal?.cancel()
                self.setTimer(Self.pauseAfterFailure, &state)
            }
        }
    }

    /// Runs a closure with the engine and counts it as a request.
    private func use(_ purpose: String, _ body: @escaping @Sendable (SearchlightEngine) async -> Void) async {
        let token = core.activity.beginRequest(of: .service)
        defer { token.end() }
        do throws(EngineUnavailable) {
            try await core.holder.use({ $0 }) { (engine) throws(EngineUnavailable) in await body(engine) }
        } catch {
            switch error {
            case .stopped, .cancelled: break
            default: core.log.write(.warning, "Could not \(purpose). \(error.description)")
            }
        }
    }
}
