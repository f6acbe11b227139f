// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSandbox
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// One worker process: started, watched, ended and reaped here and nowhere else.
///
/// A thread waits for its end. Until that thread has reaped it, its number belongs to nobody else; nobody is sent a
/// signal afterwards. The processes it may have started are in its process group and end with it.
final class WorkerProcess: Sendable {
    let identifier: pid_t
    /// Everything the worker prints.
    let output: WorkerOutput
    /// The host's end of the connection; taken by whoever speaks over it.
    let connection: OwnedDescriptor
    /// Whether there is no process: the extension is loaded into this one, which nobody signals.
    private let isInThisProcess: Bool

    /// What it may write until it ends.
    private let temporaryFolder: WorkerTemporaryFolder?
    private let watcher: AttemptWatcher?
    /// What its policy was made from.
    private let places: PlaceCheck

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
    /// What the kernel counted as its largest size before it had begun: that of this process, whose copy it was. As long as
    /// the worker has not said, nothing that is counted is known to be its own.
    private let inheritedPeak: Counter
    private final class Counter: Sendable {
        let value = Atomic(UInt64.max)
        let hasReported = Atomic(false)
    }

    /// A reference to the worker for its watcher, which is made before the worker is whole.
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
    ///   - bundle: Whose it is, which says what it may reach.
    ///   - origin: For whom it works; one of the background gives way to everybody else.
    ///   - onLine: Told each line that it prints.
    ///   - onReport: Told what confines it, once, before it has loaded anything.
    ///   - onRefusal: Told what it tried and may not.
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
            places = PlaceCheck(GrantedPlaces(), clock: configuration.clock)
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
            // The worker does nothing before it has its policy. To make the policy takes a fifth of the time in which the
            // dynamic linker prepares the worker.
            var policy = SandboxPolicy(bundle, configuration, temporaryFolder: temporary?.path)
            policy.background = origin == .background ? .all : []
            places = PlaceCheck(policy.places, clock: configuration.clock)
            let bytes = try policy.encoded(SeccompPrograms.programs(for: policy), host: getpid())
            let sent = csandbox_send_policy(policyEnd.number, bytes, bytes.count)
            // A worker that has ended by then is reported as any other that ends.
            if sent != EPIPE { try Self.check(sent, "handing over its policy") }
            watcher = try AttemptWatcher(
                pid, policy, WorkerGauge.Connection(ownEnd, worker: workerEnd), socket: policyEnd,
                stop: (stopRead, stopWrite),
                onReport: { report, peak in
                    inheritedPeak.value.store(peak, ordering: .relaxed)
                    inheritedPeak.hasReported.store(true, ordering: .releasing)
                    onReport(report)
                }, onRefusal: onRefusal, onExcess: { link.process?.terminate(for: $0) })
        } catch {
            // It has loaded nothing, and nobody else knows of it.
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
            // Nobody would notice its end.
            terminate()
            waitForEnd()
            throw .workerUnavailable(failing: "starting a thread", code: result)
        }
    }

    /// Asks the worker and what it started to end. Harmless when it has ended.
    func askToEnd() {
        guard !isInThisProcess else { return }
        state.withLock { state in
            guard state.exit == nil else { return }
            kill(-identifier, SIGTERM)
            kill(identifier, SIGTERM)
        }
    }

    /// Ends the worker and what it started, at once. Harmless when it has ended.
    func terminate() {
        guard !isInThisProcess else { return end { _ in .endedByHost } }
        state.withLock { state in
            guard state.exit == nil else { return }
            state.wasEndedByHost = true
            // Itself too: it may have left its group.
            kill(-identifier, SIGKILL)
            kill(identifier, SIGKILL)
        }
    }

    /// Ends the worker for what it used too much of.
    private func terminate(for excess: WorkerExcess) {
        // What was ended already may look as if it could not be measured.
        state.withLock { if !$0.wasEndedByHost { $0.excess = excess } }
        terminate()
    }

    /// Whether it was refused memory, or ended for it.
    var hasDeniedMemory: Bool { watcher?.hasDeniedMemory ?? false }

    /// Has it stand still, with what it started. Harmless when it has ended.
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

    /// Whether it was made to stand still, so that it can heed nothing.
    var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Whether all of its threads stand still, or it has ended.
    var isStopped: Bool { inquire { csandbox_is_stopped(identifier) != 0 } ?? true }

    /// Has its session be like anybody's, so that it gets a processor to hear what it is told, or yield to others again. For
    /// workers that lead no session, nothing changes.
    ///
    /// - Returns: `false` where the kernel takes no more changes for now: ten a second.
    func setYielding(_ isYielding: Bool) -> Bool {
        inquire { csandbox_set_session_nice(identifier, isYielding ? 19 : 0) != EAGAIN } ?? true
    }

    /// The processor time that it has used, in nanoseconds; `nil` once it has ended.
    var processorTime: UInt64? {
        inquire {
            var nanoseconds: UInt64 = 0
            return csandbox_processor_time(identifier, &nanoseconds) == 0 ? nanoseconds : nil
        } ?? nil
    }

    /// How long it has waited for a processor; `nil` once it has ended, and where nobody counts that.
    /// The time counts too in which it waited for the host, which had none, to judge its calls.
    var processorWait: ProcessorWait.Sample? {
        guard var sample = inquire({ ProcessorWait.Sample(of: identifier) }) ?? nil else { return nil }
        sample.waited &+= watcher?.processorWait ?? 0
        return sample
    }

    /// Whether it holds locks on files that others may wait for.
    var holdsLocks: Bool {
        let own = temporaryFolder.flatMap { SmallFile.resolved($0.path) }
        return inquire { HeldLocks.exist(in: identifier, besidesIn: own) } ?? false
    }

    /// What it has cost; never less than before.
    var usage: WorkerUsage {
        guard !isInThisProcess else { return WorkerUsage() }
        return state.withLock { state in
            if state.exit == nil { state.usage = state.usage.grown(to: WorkerUsage(of: identifier)) }
            return state.usage
        }
    }

    /// Asks the kernel about it while its number is its own; `nil` once it has ended.
    private func inquire<Answer>(_ body: () -> Answer) -> Answer? {
        guard !isInThisProcess else { return nil }
        return state.withLock { $0.exit == nil ? body() : nil }
    }

    /// Whether a fresh one would reach the same.
    func reachesWhatIsThere() async -> Bool { await places.areUnchanged() }

    /// Whether it was confined and went on to load what it was told to. What ends before is not the extension's fault.
    var hasBegun: Bool { inheritedPeak.hasReported.load(ordering: .acquiring) || isInThisProcess }

    /// Whether it has ended and been reaped.
    var hasEnded: Bool { state.withLock { $0.exit != nil } }

    /// The most memory it ever had resident, in bytes. `nil` while it runs, and where it was less than what this process
    /// had when it started the worker: the kernel counts that too.
    var peakMemory: UInt64? { state.withLock { $0.peak } }

    /// How the worker ended; waits for it.
    func exit() async -> WorkerExit {
        await withCheckedContinuation { (continuation: CheckedContinuation<WorkerExit, Never>) in
            let known = state.withLock { state -> WorkerExit? in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Ends the worker if it has not ended within a grace time, and says how it ended.
    ///
    /// The kernel closes a dying process's connection a moment before it can be waited for; without the grace a crash
    /// would look as if the host had ended it.
    func exit(within grace: Duration, clock: any Clock<Duration>) async -> WorkerExit {
        let timer = Task {
            guard (try? await clock.sleep(for: grace)) != nil else { return }
            terminate()
        }
        defer { timer.cancel() }
        return await exit()
    }

    /// Calls a closure when the worker has ended, or now if it has.
    func whenEnded(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.exit == nil { state.onExit.append(action) }
            return state.exit != nil
        }
        if hasEnded { action() }
    }

    /// Returns when everything was told that the worker had printed and tried when this was called, or soon after.
    func catchUp() async {
        await output.catchUp()
        await watcher?.catchUp()
    }

    private func waitForEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        // What the worker started has no business without it, and may hold its output open.
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

    /// Notes how it ended, unless that is known, and tells everybody.
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

    /// The two ends of what a function of CSandbox makes.
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
