// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileWatching
import Glibc
import SearchlightEngine
import Synchronization

/// Follows the extensions' files while the service runs. It watches the paths from manifests and
/// from the user's lists, and passes changes to the engine, which turns them into jobs.
///
/// If no extension follows files, nothing runs. Otherwise one thread waits for inotify events
/// (``FileWatcher``).
final class FileKeeper: Sendable {
    private struct State {
        var watcher: FileWatcher?
        /// The generation of the current watcher. Reports from an ended watcher have an older
        /// generation.
        var generation: UInt64 = 0
        var status: FileWatcher.Status?
        /// The reason why nothing can be followed, as a sentence. A timer tries again.
        var failure: String?
        var retry: Task<Void, Never>?
        /// `true` while the trees to watch are being computed; `looksAgain` repeats the computation
        /// afterwards.
        var isLooking = false
        var looksAgain = false
        /// The same two flags for processing changes in the snapshot.
        var isTaking = false
        var takesAgain = false
        var hasEnded = false
        /// The trees to watch, once computed.
        var wanted: [WatchedTree]?
        /// The tasks that wait for the watches of a bundle's files.
        var waiting: [UInt64: (bundle: String, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastWaiting: UInt64 = 0
        /// Returns `true` if all of a bundle's trees are watched, as far as possible.
        func isWatched(_ bundle: String) -> Bool {
            guard !hasEnded else { return true }
            guard !isLooking, let wanted else { return false }
            guard watcher != nil else { return true }
            return wanted.allSatisfy { tree in
                tree.owner != bundle || status.flatMap { $0.trees[tree] }.map { $0 != .waiting } ?? false
            }
        }

        /// Removes and returns the tasks that no longer have to wait.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = waiting.filter { isWatched($0.value.bundle) }
            for number in ready.keys { waiting[number] = nil }
            return ready.values.map(\.continuation)
        }

        /// The problems that were logged, by tree, and whether unwatched folders were logged.
        var told: [WatchedTree: FileWatcher.TreeState] = [:]
        var hasToldUnwatched = false
    }
    private let state = Mutex(State())
    private let core: ServiceCore
    private let trouble: LogAllowance

    init(_ core: ServiceCore) {
        self.core = core
        trouble = core.log.allowance()
    }

    // MARK: The watched trees

    /// Connects to an engine that was just opened. Call it before the engine's first job.
    func take(_ engine: SearchlightEngine) {
        follow(engine)
        lookAgain()
    }

    private func follow(_ engine: SearchlightEngine) {
        engine.setFileFollower { [weak self] bundle in await self?.watch(bundle) }
    }

    /// The longest time a reindex waits for the watches of its bundle's files.
    private static let patience = Duration.seconds(10)

    /// Returns once a bundle's files are watched, or cannot be watched for now.
    private func watch(_ bundle: String) async {
        // The extension may have just been installed.
        lookAgain()
        let number = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        let timer = core.clock.timer(after: Self.patience) { [weak self] in self?.stopWaiting(number) }
        defer { timer.cancel() }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            state.withLock { $0.waiting[number] = (bundle, continuation) }
            resumeReady()
        }
    }

    private func stopWaiting(_ number: UInt64) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
    }

    private func resumeReady() { for one in state.withLock({ $0.takeReady() }) { one.resume() } }

    /// Disconnects from the engine, which is about to be closed.
    func part() { stop { $0.generation += 1 } }

    /// Ends following permanently.
    func end() { stop { $0.hasEnded = true } }

    private func stop(_ change: (inout State) -> Void) {
        let (watcher, status, retry) = state.withLock { state in
            change(&state)
            defer {
                (state.watcher, state.status, state.wanted, state.failure, state.retry) = (nil, nil, nil, nil, nil)
            }
            return (state.watcher, state.status, state.retry)
        }
        retry?.cancel()
        core.holder.inUse?.setFileFollower(nil, isUpToDate: status?.isUpToDate == true)
        watcher?.end()
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.continuation)
        }
        for one in waiting { one.resume() }
    }

    /// Computes the trees to watch again, since extensions or lists may have changed. Returns
    /// immediately.
    func lookAgain() {
        let begins = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.looksAgain = state.isLooking
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if begins { beginLook() }
    }

    private func beginLook() {
        let token = core.activity.beginRequest(of: .service)
        // The computation reads the file system, which may block.
        DispatchQueue.global(qos: .utility).async { [self] in
            look()
            token.end()
            let goesOn = state.withLock { state in
                state.isLooking = state.looksAgain && !state.hasEnded
                state.looksAgain = false
                return state.isLooking
            }
            if goesOn { beginLook() } else { resumeReady() }
        }
    }

    private func look() {
        let generation = state.withLock { $0.generation }
        guard let engine = core.holder.inUse else { return }
        let trees = engine.watchedTrees()
        state.withLock { $0.wanted = trees }
        core.activity.noteFollowing(!trees.isEmpty)
        if trees.isEmpty, state.withLock({ $0.watcher == nil }) { return }
        do {
            guard let watcher = try watcher(for: engine, generation) else { return }
            state.withLock { $0.failure = nil }
            watcher.watch(trees)
            follow(engine)
        } catch {
            engine.setFileFollower(nil)
            core.log.write(.warning, trouble, "Files cannot be watched. \(error)")
            let timer = core.clock.timer(after: Self.retryPause) { [weak self] in self?.lookAgain() }
            let before = state.withLock { state in
                state.failure = "\(error)"
                defer { state.retry = timer }
                return state.retry
            }
            before?.cancel()
        }
    }

    /// The delay before another attempt after a failure, for example when no inotify instance is
    /// available.
    private static let retryPause = Duration.seconds(60)

    private func watcher(for engine: SearchlightEngine, _ generation: UInt64) throws -> FileWatcher? {
        if let watcher = state.withLock({ $0.watcher }) { return watcher }
        let watcher = try FileWatcher(snapshot: try engine.fileSnapshot()) { [weak self] status in
            self?.take(status, generation)
        }
        let isWanted = state.withLock { state in
            guard !state.hasEnded, state.generation == generation else { return false }
            state.watcher = watcher
            return true
        }
        guard isWanted else {
            watcher.end()
            return nil
        }
        return watcher
    }

    /// The followed files of enabled extensions; `nil` until known.
    var followed: FollowedStatus? {
        guard let engine = core.holder.inUse else { return followedOfAll }
        return followedOfAll?.limited(to: engine.isEnabled)
    }

    private var followedOfAll: FollowedStatus? {
        let (watcher, told, failed) = state.withLock { state in
            (state.watcher, state.status, state.failure.map { FollowedStatus(failed: state.wanted ?? [], because: $0) })
        }
        if let failed { return failed }
        // The watcher's last report may be outdated: a file system that does not respond leads to
        // no new report. So the current status is read.
        let now = watcher?.status
        return (now?.trees.isEmpty == false ? now : told).map(FollowedStatus.init)
    }

    // MARK: Reports of the watcher

    private func take(_ status: FileWatcher.Status, _ generation: UInt64) {
        let begins = state.withLock { state in
            guard state.generation == generation, !state.hasEnded else { return false }
            state.status = status
            state.takesAgain = state.isTaking
            defer { state.isTaking = true }
            return !state.isTaking
        }
        resumeReady()
        tellProblems(status)
        if begins { beginTaking() }
    }

    private func beginTaking() {
        let token = core.activity.beginRequest(of: .service)
        Task { [self] in
            await takeNews()
            token.end()
            let goesOn = state.withLock { state in
                state.isTaking = state.takesAgain && !state.hasEnded
                state.takesAgain = false
                return state.isTaking
            }
            if goesOn { beginTaking() }
        }
    }

    private func takeNews() async {
        await core.holder.useNow { [self] engine in
            do throws(EngineError) {
                if try await engine.takeFileNews() { lookAgain() }
            } catch {
                core.log.write(.warning, trouble, "Changed files could not be recorded. \(error.description)")
            }
        }
    }

    /// Logs each tree that cannot be followed, once.
    private func tellProblems(_ status: FileWatcher.Status) {
        let (new, isUnwatched) = state.withLock { state in
            let problems = status.trees.filter { $0.value.problem != nil }
            let new = problems.filter { state.told[$0.key] != $0.value }
            state.told = problems
            let isUnwatched = status.unwatchedFolders > 0 && !state.hasToldUnwatched
            state.hasToldUnwatched = status.unwatchedFolders > 0
            return (new, isUnwatched)
        }
        for (tree, treeState) in new.sorted(by: { $0.key.root < $1.key.root }) {
            core.log.write(
                .warning, trouble, "\(tree.root) is not watched for \(tree.owner). \(treeState.problem ?? "")")
        }
        guard isUnwatched else { return }
        core.log.write(
            .warning, trouble,
            "\(status.unwatchedFolders) folders are not watched (\(String(cString: strerror(status.code ?? 0)))). For a remedy, run “searchlight doctor”."
        )
    }
}

extension FileWatcher.TreeState {
    /// The reason why a tree is not followed, as a sentence.
    fileprivate var problem: String? {
        switch self {
        case .waiting, .watched, .missing: nil
        case .unavailable(let places):
            "Not available, so its items stay in the index: \(TreeReport.shown(places).joined(separator: ", "))."
        case .silent: "Its file system does not answer."
        case .failed(let reason): reason
        }
    }
}
