// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Synchronization

/// Keeps up with the extensions that come, change and go while the service runs: looks for them when something changes, tells
/// of it, and deletes what those left that were removed, when it is time. What is owed for it is the scheduler's.
///
/// Nothing here polls: watching is a thread that waits in the kernel; the next deletion is one timer, and there is none while
/// nothing is due.
final class ExtensionKeeper: Sendable {
    private struct State {
        var watch: BundleWatch?
        var removal: Task<Void, Never>?
        var hasEnded = false
        /// The bundles that are refused, as far as that was told.
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
    /// The most refusals that are told at once.
    private static let maximumRefusals = 20

    /// - Parameter onChange: Called when other extensions are there than before.
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

    /// Begins to watch, and does what is due.
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

    /// Takes on an engine that was just opened.
    func take(_ engine: SearchlightEngine) {
        engine.noteWatching(state.withLock { $0.watch != nil })
        // Who lists the extensions has them looked for too, and then they are not found here.
        engine.followExtensions { [weak self, weak engine] changes in
            guard let self, let engine else { return }
            note(changes, engine)
            if !changes.isEmpty { onChange() }
        }
        note(engine.changesAtOpening, engine)
        // What has changed between its look at the extensions and the beginning of the watch.
        state.withLock { $0.watch }?.lookAgain()
    }

    /// Watches no more.
    func end() {
        let (watch, timer) = state.withLock { state in
            state.hasEnded = true
            defer { (state.watch, state.removal) = (nil, nil) }
            return (state.watch, state.removal)
        }
        watch?.end()
        timer?.cancel()
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
            setTimer(min(wait, Self.longestWait), &state)
        }
    }

    private func setTimer(_ seconds: Double, _ state: inout State) {
        state.removal = core.clock.timer(after: .seconds(seconds)) { [weak self] in
            Task { await self?.removeDue() }
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
                self.setTimer(Self.pauseAfterFailure, &state)
            }
        }
    }

    /// Does something with the engine, which counts as a request.
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
