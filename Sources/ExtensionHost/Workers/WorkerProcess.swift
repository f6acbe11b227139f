// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSandbox
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// One worker process. Only this class starts, signals, terminates and reaps it.
///
/// A thread waits until the process exits. Until that thread has reaped the process, its number
/// belongs to no other process; no signal is sent afterwards. Processes that the worker started are
/// in its process group and are terminated with it.
final class WorkerProcess: Sendable {
    let identifier: pid_t
    /// The worker's output.
    let output: WorkerOutput
    /// The host's end of the connection. The caller that uses the connection adopts the descriptor.
    let connection: OwnedDescriptor
    /// `true` if the extension is loaded into this process. Then there is no worker process to
    /// signal.
    private let isInThisProcess: Bool

    /// The writable folder, which is removed when the worker exits.
    private let temporaryFolder: WorkerTemporaryFolder?
    private let watcher: AttemptWatcher?
    /// The check of the files that the policy was made from.
    private let places: PathRevalidation

    private struct State {
        var exit: WorkerExit?
        var waiters: [CheckedContinuation<WorkerExit, Never>] = []
        var onExit: [@Sendable () -> Void] = []
        var wasEndedByHost = false
        var excess: WorkerExcess?
        var peak: UInt64?
        var isFrozen = false
        var usage = WorkerUsage()
    }
    private let state = Mutex(State())
    /// The peak memory that the kernel counted before the worker program started: a copy of this
    /// process's peak. Until the worker has reported this value, its own peak is unknown.
    private let inheritedPeak: Counter
    private final class Counter: Sendable {
        let value = Atomic(UInt64.max)
        let hasReported = Atomic(false)
    }

    /// A weak reference to the worker for its watcher, which is created before the worker is
    /// initialised.
    private final class Link: Sendable {
        private struct Reference { weak var process: WorkerProcess? }
        private let reference = Mutex(Reference())
        var process: WorkerProcess? {
            get { reference.withLock { $0.process } }
            set { reference.withLock { $0.process = newValue } }
        }
    }

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - bundle: The bundle, which declares the access.
    ///   - origin: The origin of the requests. A background worker yields to all other processes.
    ///   - onLine: Called with each printed line.
    ///   - onReport: Called once with the worker's confinement, before it loads any code.
    ///   - onRefusal: Called with denied attempts.
    init(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, _ origin: RequestOrigin,
        onLine: @escaping @Sendable (String) -> Void,
        onReport: @escaping @Sendable (SandboxReport) -> Void, onRefusal: @escaping @Sendable (SandboxRefusal) -> Void
    ) throws(ExtensionError) {
        let (ownEnd, workerEnd) = try Self.ends(csandbox_socket_pair, "creating its connection")
        let (policyEnd, workerPolicyEnd) = try Self.ends(csandbox_socket_pair, "creating the socket of its policy")
        let (readEnd, writeEnd) = try Self.ends(csandbox_pipe, "creating a pipe for its output")
        let (stopRead, stopWrite) = try Self.ends(csandbox_pipe, "creating a pipe")
        connection = ownEnd
        output = try WorkerOutput(reading: readEnd, onLine: onLine)
        let inheritedPeak = Counter()
        self.inheritedPeak = inheritedPeak
        if let start = configuration.startInProcess {
            (identifier, isInThisProcess, watcher, temporaryFolder) = (getpid(), true, nil, nil)
            places = PathRevalidation(GrantedPathIdentities(), clock: configuration.clock)
            do throws(BusError) { try start(workerEnd) } catch {
                throw .workerUnavailable(reason: error.description)
            }
            return
        }
        isInThisProcess = false
        let temporary = WorkerTemporaryFolder(below: configuration.temporaryFolder, bundle: bundle.identifier)
        temporaryFolder = temporary
        let (code, pid) = withExtendedLifetime((workerEnd, workerPolicyEnd, writeEnd)) {
            WorkerSpawner.shared.spawn(
                configuration.workerPath,
                environment: configuration.workerEnvironment(
                    temporary?.path, allowsNetwork: bundle.manifest.access.allowsNetwork),
                connection: workerEnd.number, policy: workerPolicyEnd.number, output: writeEnd.number,
                ownSession: origin == .background && configuration.hasBackgroundSessions)
        }
        if code != 0 { output.stop() }
        try Self.check(code, "starting \(configuration.workerPath)")
        identifier = pid
        let link = Link()
        do throws(ExtensionError) {
            // The worker does nothing before it receives its policy. Making the policy takes a
            // fifth of the time that the dynamic linker needs to start the worker.
            var policy = SandboxPolicy(bundle, configuration, temporaryFolder: temporary?.path)
            policy.background = origin == .background ? .all : []
            places = PathRevalidation(policy.places, clock: configuration.clock)
            let bytes = try policy.encoded(try SeccompPrograms.programs(for: policy), host: getpid())
            let sent = csandbox_send_policy(policyEnd.number, bytes, bytes.count)
            // A worker that has already exited is reported like any other worker that exits.
            if sent != EPIPE { try Self.check(sent, "sending its policy") }
            watcher = try AttemptWatcher(
                pid, policy, WorkerGauge.Connection(ownEnd, worker: workerEnd), socket: policyEnd,
                stop: (stopRead, stopWrite),
                onReport: { report, peak in
                    inheritedPeak.value.store(peak, ordering: .relaxed)
                    inheritedPeak.hasReported.store(true, ordering: .releasing)
                    onReport(report)
                }, onRefusal: onRefusal, onExcess: { link.process?.terminate(for: $0) })
        } catch {
            // The worker has loaded nothing, and no other object refers to it.
            kill(pid, SIGKILL)
            var (status, cost) = (Int32(0), csandbox_cost())
            _ = csandbox_reap(pid, &status, &cost)
            output.stop()
            temporary?.remove()
            throw error
        }
        link.process = self
        let result = OwnThread.start("worker-end") { [self] in waitForEnd() }
        guard result == 0 else {
            // Without the thread, the worker's exit would not be noticed.
            terminate()
            waitForEnd()
            throw .workerUnavailable(failing: "starting a thread", code: result)
        }
    }

    /// Sends SIGTERM to the worker and to the processes that the worker started. Does nothing after
    /// the worker has exited.
    func askToEnd() {
        guard !isInThisProcess else { return }
        state.withLock { state in
            guard state.exit == nil else { return }
            kill(-identifier, SIGTERM)
            kill(identifier, SIGTERM)
        }
    }

    /// Terminates the worker and the processes that it started at once (SIGKILL). Does nothing
    /// after the worker has exited.
    func terminate() {
        guard !isInThisProcess else { return end { _ in .endedByHost } }
        state.withLock { state in
            guard state.exit == nil else { return }
            state.wasEndedByHost = true
            // Also signals the process itself, because it may have left its group.
            kill(-identifier, SIGKILL)
            kill(identifier, SIGKILL)
        }
    }

    /// Terminates the worker because of excessive resource use.
    private func terminate(for excess: WorkerExcess) {
        // A worker that was already terminated may seem impossible to measure.
        state.withLock { if !$0.wasEndedByHost { $0.excess = excess } }
        terminate()
    }

    /// `true` if the worker was denied memory or terminated because of its memory use.
    var hasDeniedMemory: Bool { watcher?.hasDeniedMemory ?? false }

    /// Stops the worker and the processes that it started (SIGSTOP). Does nothing after the worker
    /// has exited.
    func freeze() {
        guard !isInThisProcess else { return }
        state.withLock { state in
            guard state.exit == nil else { return }
            state.isFrozen = true
            kill(-identifier, SIGSTOP)
            kill(identifier, SIGSTOP)
        }
    }

    func thaw() {
        guard !isInThisProcess else { return }
        state.withLock { state in
            guard state.exit == nil, state.isFrozen else { return }
            state.isFrozen = false
            kill(identifier, SIGCONT)
            kill(-identifier, SIGCONT)
            watcher?.lookNow()
        }
    }

    /// `true` if the worker is frozen, so that it cannot react to a request.
    var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// `true` if all of the worker's threads are stopped, or if the worker has exited.
    var isStopped: Bool { inquire { csandbox_is_stopped(identifier) != 0 } ?? true }

    /// Makes the worker's session yield to others, or restores the normal priority so that the
    /// worker gets processor time to read a notice. Has no effect on workers that do not lead a
    /// session.
    ///
    /// - Returns: `false` if the kernel temporarily rejects the change, because it accepts ten per
    ///   second.
    func setYielding(_ isYielding: Bool) -> Bool {
        inquire { csandbox_set_session_nice(identifier, isYielding ? 19 : 0) != EAGAIN } ?? true
    }

    /// The worker's processor time, in nanoseconds; `nil` after the worker has exited.
    var processorTime: UInt64? {
        inquire {
            var nanoseconds: UInt64 = 0
            return csandbox_processor_time(identifier, &nanoseconds) == 0 ? nanoseconds : nil
        } ?? nil
    }

    /// The time for which the worker has waited for a processor; `nil` after the worker has exited,
    /// or if the kernel does not count it. Includes the time in which the worker waited for the
    /// host's watcher while the watcher waited for a processor.
    var processorWait: ProcessorWait.Sample? {
        guard var sample = inquire({ ProcessorWait.Sample(of: identifier) }) ?? nil else { return nil }
        sample.waited &+= watcher?.processorWait ?? 0
        return sample
    }

    /// `true` if the worker holds file locks that other processes may wait for.
    var holdsLocks: Bool {
        let own = temporaryFolder.flatMap { SmallFile.resolved($0.path) }
        return inquire { HeldLocks.exist(in: identifier, besidesIn: own) } ?? false
    }

    /// The resources that the worker has used. The counters never decrease.
    var usage: WorkerUsage {
        guard !isInThisProcess else { return WorkerUsage() }
        return state.withLock { state in
            if state.exit == nil { state.usage = state.usage.grown(to: WorkerUsage(of: identifier)) }
            return state.usage
        }
    }

    /// Queries the kernel while the process number belongs to the worker; returns `nil` after the
    /// worker has exited.
    private func inquire<Answer>(_ body: () -> Answer) -> Answer? {
        guard !isInThisProcess else { return nil }
        return state.withLock { $0.exit == nil ? body() : nil }
    }

    /// Returns `true` if a fresh worker would have the same access.
    func reachesWhatIsThere() async -> Bool { await places.areUnchanged() }

    /// `true` if the worker was confined and proceeded to load the extension. The extension cannot
    /// be the cause of an earlier exit.
    var hasBegun: Bool { inheritedPeak.hasReported.load(ordering: .acquiring) || isInThisProcess }

    /// `true` if the worker has exited and was reaped.
    var hasEnded: Bool { state.withLock { $0.exit != nil } }

    /// The peak resident memory, in bytes; `nil` while the worker runs. Also `nil` if the peak is
    /// below this process's memory when the worker was started, because the kernel's count includes
    /// that memory.
    var peakMemory: UInt64? { state.withLock { $0.peak } }

    /// Waits until the worker exits and returns its exit.
    func exit() async -> WorkerExit {
        await withCheckedContinuation { (continuation: CheckedContinuation<WorkerExit, Never>) in
            let known = state.withLock { state -> WorkerExit? in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Waits until the worker exits, terminates it after a grace period, and returns its exit.
    ///
    /// The kernel closes a dying process's connection shortly before the process can be waited for.
    /// Without the grace period, a crash would look like a termination by the host.
    func exit(within grace: Duration, clock: any Clock<Duration>) async -> WorkerExit {
        let timer = Task {
            guard (try? await clock.sleep(for: grace)) != nil else { return }
            terminate()
        }
        defer { timer.cancel() }
        return await exit()
    }

    /// Calls a closure when the worker exits, or now if it has already exited.
    func whenEnded(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.exit == nil { state.onExit.append(action) }
            return state.exit != nil
        }
        if hasEnded { action() }
    }

    /// Returns when everything that the worker has printed and attempted so far is reported, or
    /// after a time limit.
    func catchUp() async {
        await output.catchUp()
        await watcher?.catchUp()
    }

    private func waitForEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        // Processes that the worker started must not outlive it, and may keep the output pipe open.
        kill(-identifier, SIGKILL)
        output.waitForEnd()
        watcher?.waitForEnd()
        temporaryFolder?.remove()
        end { state in
            var (status, cost) = (Int32(0), csandbox_cost())
            _ = csandbox_reap(identifier, &status, &cost)
            let peak = cost.peak
            state.usage = state.usage.grown(to: WorkerUsage(cost))
            if peak > inheritedPeak.value.load(ordering: .relaxed) { state.peak = peak }
            let signal = status & 0x7F
            return if signal == 0 {
                .exited((status >> 8) & 0xFF)
            } else if signal == SIGKILL, let excess = state.excess {
                .exceeded(limit: excess.refusal.detail)
            } else if signal == SIGKILL && state.wasEndedByHost {
                .endedByHost
            } else {
                .signalled(signal)
            }
        }
    }

    /// Records the exit, unless it is already recorded, and resumes all waiting tasks.
    private func end(_ reap: (inout State) -> WorkerExit) {
        let (waiters, actions, exit) = state.withLock { state in
            let exit = state.exit ?? reap(&state)
            state.exit = exit
            defer { (state.waiters, state.onExit) = ([], []) }
            return (state.waiters, state.onExit, exit)
        }
        for action in actions { action() }
        for waiter in waiters { waiter.resume(returning: exit) }
    }

    /// Returns both ends of a pair that a CSandbox function creates.
    private static func ends(
        _ make: (UnsafeMutablePointer<Int32>?) -> Int32, _ operation: String
    ) throws(ExtensionError) -> (OwnedDescriptor, OwnedDescriptor) {
        var numbers: [Int32] = [-1, -1]
        try check(make(&numbers), operation)
        return (OwnedDescriptor(adopting: numbers[0]), OwnedDescriptor(adopting: numbers[1]))
    }

    private static func check(_ code: Int32, _ operation: String) throws(ExtensionError) {
        if code != 0 { throw .workerUnavailable(failing: operation, code: code) }
    }
}
