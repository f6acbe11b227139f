// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchlightEngine
import ServiceMessages
import Synchronization

/// Runs the scheduler's jobs on the engine. During a repair of the store there are no pending jobs,
/// and the job in progress has ended.
final class EngineJobRunner: JobRunner {
    private let core: ServiceCore
    private let allowance: LogAllowance
    private struct State {
        /// The gates where paused maintenance tasks wait.
        var checkpoints: [ScheduledJob.Key: PauseGate] = [:]
        /// The usage of background workers at the last report, by bundle.
        var told: [String: Usage] = [:]
        /// The bundle of a job that the user requested, with the usage of its interactive workers
        /// at the last report. Such a job runs in these workers. Other interactive requests to the
        /// bundle at the same time are included in the count.
        var persons: (bundle: String, told: Usage)?
        /// The total processor time in seconds spent writing the index, at the last report for a
        /// job of changed files. Such a job has a small budget, and most of its cost arises in this
        /// process.
        var writing: [ScheduledJob.Key: Double] = [:]

        /// Returns a job's gate. A job may be paused before it begins.
        mutating func gate(of key: ScheduledJob.Key) -> PauseGate {
            let gate = checkpoints[key] ?? PauseGate()
            checkpoints[key] = gate
            return gate
        }
    }
    private let state = Mutex(State())
    /// The maximum number of bundles with recorded usage. Beyond it, the records are cleared, and
    /// usage may be reported twice.
    private static let maximumBundles = 4096

    init(_ core: ServiceCore) {
        self.core = core
        allowance = core.log.allowance()
    }

    func jobs() async -> [ScheduledJob] { core.holder.current?.scheduledJobs() ?? [] }

    func nextLook() async -> Double? { core.holder.current?.nextLook }

    func lookAhead() async {
        await core.holder.useNow { engine in
            do throws(EngineError) { try await engine.lookAhead() } catch {
                core.log.write(.warning, allowance, "Finding expired items failed. \(error.description)")
            }
        }
    }

    func run(_ key: ScheduledJob.Key, isWanted: Bool) async -> SchedulerEvent.Outcome {
        let cost = key.bundle.flatMap { core.holder.inUse?.usage(of: $0, for: .person) } ?? Usage()
        let writingTime = core.holder.inUse?.writingTime ?? 0
        let gate = state.withLock { state in
            if isWanted {
                state.persons = key.bundle.map { ($0, cost) }
            } else if state.persons?.bundle == key.bundle {
                state.persons = nil
            }
            if case .files = key {
                if state.writing.count >= Self.maximumBundles { state.writing = [:] }
                state.writing[key] = writingTime
            }
            return state.gate(of: key)
        }
        defer { state.withLock { $0.checkpoints[key] = nil } }
        let outcome = await core.holder.useNow { engine in await run(key, isWanted, engine, gate) }
        // The engine was closed for a repair; the job stays pending.
        return outcome ?? .stopped
    }

    private func run(
        _ key: ScheduledJob.Key, _ isWanted: Bool, _ engine: SearchlightEngine, _ gate: PauseGate
    ) async -> SchedulerEvent.Outcome {
        do throws(EngineError) {
            let origin: RequestOrigin = isWanted ? .person : .background
            let items = try await engine.run(
                key, origin: origin, checkpoint: { await gate.pass() }, isPaused: { gate.isClosed })
            if let bundle = key.bundle, let items {
                core.log.write(.notice, "\(bundle) has donated; the index has \(items) items of it.")
            }
            return .done
        } catch {
            switch error {
            // Another request is reindexing the bundle, or the items are locked. The job list shows
            // when the job is pending again.
            case .extension(.cancelled), .alreadyReindexing, .protection(.locked): return .stopped
            default:
                switch key {
                case .reindex(let bundle):
                    core.log.write(
                        .warning, allowance, "The pending reindex of \(bundle) failed. \(error.description)")
                case .files(let bundle):
                    core.log.write(
                        .warning, allowance, "Reporting changed files to \(bundle) failed. \(error.description)")
                case .encrypted(let bundle):
                    core.log.write(
                        .warning, allowance,
                        "Requesting the encrypted items of \(bundle) failed. \(error.description)")
                case .maintenance(let task):
                    core.log.write(
                        .warning, allowance, "Maintenance of the index (\(task.rawValue)) failed. \(error.description)")
                }
                return .failed(reason: error.description)
            }
        }
    }

    func pause(_ key: ScheduledJob.Key, because gate: Gate) async {
        state.withLock { $0.gate(of: key) }.close()
        guard let bundle = key.bundle else { return }
        await core.holder.inUse?.pauseBackground(bundle, ThrottleNotice(reason: gate.throttleReason))
    }

    func resume(_ key: ScheduledJob.Key) async {
        state.withLock { $0.checkpoints[key] }?.open()
        guard let bundle = key.bundle else { return }
        await core.holder.inUse?.resumeBackground(bundle)
    }

    func stop(_ key: ScheduledJob.Key) async {
        state.withLock { $0.checkpoints[key] }?.stop()
        guard let bundle = key.bundle else { return }
        await core.holder.inUse?.endBackground(bundle)
    }

    func used(_ key: ScheduledJob.Key) async -> Usage? {
        guard let bundle = key.bundle, let engine = core.holder.inUse else { return nil }
        let background = engine.usage(of: bundle, for: .background)
        let persons = engine.usage(of: bundle, for: .person)
        let writingTime = engine.writingTime
        return state.withLock { state in
            var more: [Usage] = []
            if let background {
                more.append(background.since(state.told[bundle]))
                if state.told.count >= Self.maximumBundles { state.told = [:] }
                state.told[bundle] = background
            }
            if let persons, let before = state.persons, before.bundle == bundle {
                more.append(persons.since(before.told))
                state.persons?.told = persons
            }
            if let before = state.writing[key] {
                // If the engine was opened again, its time restarts at 0.
                more.append(Usage(cpu: writingTime < before ? writingTime : writingTime - before))
                state.writing[key] = writingTime
            }
            return more.isEmpty ? nil : more.reduce(Usage(), +)
        }
    }
}

extension Usage {
    /// Returns the usage since an earlier moment. If a counter has decreased, the engine was opened
    /// again with zero counters, so the whole usage is new.
    fileprivate func since(_ before: Usage?) -> Usage {
        guard let before, cpu >= before.cpu, written >= before.written, wakeUps >= before.wakeUps else { return self }
        return Usage(cpu: cpu - before.cpu, written: written - before.written, wakeUps: wakeUps - before.wakeUps)
    }
}

extension Gate {
    /// The reason for a pause, as reported to an extension.
    var throttleReason: ThrottleNotice.Reason {
        switch cause {
        case .user: .userActive
        case .power: .battery
        case .load: .pressure
        case .request: .requested
        case .sleep, .other: .other
        }
    }
}

/// A gate between the steps of a task, where the task waits while it is paused.
final class PauseGate: Sendable {
    private struct State {
        var isClosed = false
        var isStopped = false
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var last: UInt64 = 0
    }
    private let state = Mutex(State())

    /// `true` if tasks that reach the gate wait or stop.
    var isClosed: Bool { state.withLock { $0.isClosed || $0.isStopped } }

    /// Closes the gate: tasks that reach it wait.
    func close() { state.withLock { $0.isClosed = true } }

    /// Opens the gate and resumes the waiting tasks.
    func open() { release(true) { $0.isClosed = false } }

    /// Stops all tasks that wait at the gate or reach it.
    func stop() { release(false) { $0.isStopped = true } }

    /// Waits until the gate is open.
    ///
    /// - Returns: `true` to continue; `false` to stop.
    func pass() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let known = state.withLock { state -> Bool? in
                    if state.isStopped || Task.isCancelled { return false }
                    guard state.isClosed else { return true }
                    state.waiting[number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    private func release(_ goesOn: Bool, _ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume(returning: goesOn) }
    }
}
