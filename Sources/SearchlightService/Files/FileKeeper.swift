// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileWatching
import Glibc
import SearchlightEngine
import Synchronization

/// Follows the files of extensions while the service runs: has what the manifests and the user's lists name watched, and hands what
/// changed to the engine, which makes jobs of it.
///
/// Nothing runs where no extension is told of files. Otherwise one thread waits in the kernel (``FileWatcher``).
final class FileKeeper: Sendable {
    private struct State {
        var watcher: FileWatcher?
        /// Who told what was last taken in: a watcher that was ended may still tell something.
        var generation: UInt64 = 0
        var status: FileWatcher.Status?
        /// Why nothing can be followed, as a sentence; it is tried again.
        var failure: String?
        var retry: Task<Void, Never>?
        /// Whether what is to be watched is being worked out, and whether to do that once more.
        var isLooking = false
        var looksAgain = false
        /// The same of what was noted.
        var isTaking = false
        var takesAgain = false
        var hasEnded = false
        /// What is to be watched, once that is known.
        var wanted: [WatchedTree]?
        /// Those who wait until a bundle's files are watched.
        var waiting: [UInt64: (bundle: String, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastWaiting: UInt64 = 0
        /// Whether all that is to be watched for a bundle is, as far as it can be.
        func isWatched(_ bundle: String) -> Bool {
            guard !hasEnded else { return true }
            guard !isLooking, let wanted else { return false }
            guard watcher != nil else { return true }
            return wanted.allSatisfy { tree in
                tree.owner != bundle || status.flatMap { $0.trees[tree] }.map { $0 != .waiting } ?? false
            }
        }

        /// Those who need not wait any longer.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            let ready = waiting.filter { isWatched($0.value.bundle) }
            for number in ready.keys { waiting[number] = nil }
            return ready.values.map(\.continuation)
        }

        /// The trees and folders of which a problem was told.
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

    // MARK: What is watched

    /// Takes on an engine that was just opened. It is to be told before its first job.
    func take(_ engine: SearchlightEngine) {
        follow(engine)
        lookAgain()
    }

    private func follow(_ engine: SearchlightEngine) {
        engine.setFileFollower { [weak self] bundle in await self?.watch(bundle) }
    }

    /// How long a reindex waits at most until the files of its bundle are watched.
    private static let patience = Duration.seconds(10)

    /// Returns once the files of a bundle are watched, or cannot be for now.
    private func watch(_ bundle: String) async {
        // Its extension may have come a moment ago.
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

    /// Lets the engine go, which is about to be closed.
    func part() { stop { $0.generation += 1 } }

    /// Ends for good.
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

    /// Works out what is to be watched, since extensions or lists may have changed. Returns at once.
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
        // It asks the file system, which may take its time.
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
            core.log.write(.warning, trouble, "Files cannot be followed. \(error)")
            let timer = core.clock.timer(after: Self.retryPause) { [weak self] in self?.lookAgain() }
            let before = state.withLock { state in
                state.failure = "\(error)"
                defer { state.retry = timer }
                return state.retry
            }
            before?.cancel()
        }
    }

    /// How long after a failure it is tried again, as after the system had no room for one more program that watches files.
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

    /// What is followed now; `nil` if that is not known yet.
    var followed: FollowedStatus? {
        let (watcher, told, failed) = state.withLock { state in
            (state.watcher, state.status, state.failure.map { FollowedStatus(failed: state.wanted ?? [], because: $0) })
        }
        if let failed { return failed }
        // What the watcher says by itself is of its last news; a file system that does not answer has none.
        let now = watcher?.status
        return (now?.trees.isEmpty == false ? now : told).map(FollowedStatus.init)
    }

    // MARK: What is told

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
                core.log.write(.warning, trouble, "Changed files could not be noted. \(error.description)")
            }
        }
    }

    /// Writes down each place that cannot be followed, once.
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
                .warning, trouble, "\(tree.root) is not followed for \(tree.owner). \(treeState.problem ?? "")")
        }
        guard isUnwatched else { return }
        core.log.write(
            .warning, trouble,
            "\(status.unwatchedFolders) folders are not watched (\(String(cString: strerror(status.code ?? 0)))). “searchlight doctor” says what to do."
        )
    }
}

extension FileWatcher.TreeState {
    /// Why a tree is not followed, as a sentence.
    fileprivate var problem: String? {
        switch self {
        case .waiting, .watched, .missing: nil
        case .unavailable(let places): "Not there, so nothing is concluded: \(places.joined(separator: ", "))."
        case .silent: "Its file system does not answer."
        case .failed(let reason): reason
        }
    }
}
