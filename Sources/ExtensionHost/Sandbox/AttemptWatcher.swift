// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The supervisor of one worker: it handles the system calls that the seccomp filter forwards,
/// reports denials, and measures resources that have no kernel limit.
///
/// Each worker has one supervisor thread, which ends with the worker. A worker can keep the thread
/// busy but cannot block it:
///
/// - Of the files that the worker names, the thread only opens files in `/proc` for reading.
/// - Every text is bounded.
/// - A hung file system delays only this thread.
/// - The worker opens other files itself, within its Landlock rules. It continues before the thread
///   examines the path of the call.
final class AttemptWatcher: Sendable {
    /// The maximum number of distinct denials to report for one worker. The rest is reported as one
    /// denial.
    static let maximumDistinct = 96
    /// The number of attempts after which attempts are denied without a description.
    static let maximumLooks = 20_000
    /// The maximum number of threads in one worker. Without this limit, a worker could use up the
    /// user's threads, and the host could start none. A memory limit does not bound threads,
    /// because many can share one stack. libdispatch's pools use at most about 300.
    static let maximumThreads = 512
    /// The time to wait for reports of earlier attempts after the worker exits, in milliseconds.
    private static let endGrace = 200
    /// The time to wait for the thread after the stop message, in milliseconds. On a busy machine
    /// the thread may not run at once.
    private static let stopGrace = 2000
    /// The maximum number of a worker's concurrent `connect` calls. The kernel gives up each after
    /// about two minutes.
    private static let maximumConnecting = 64

    /// The time for which the thread has waited for a processor, in nanoseconds. During that time
    /// the worker waits for the thread.
    var processorWait: UInt64 {
        guard let folder = threadFolder.withLock({ $0 }),
            let text = SmallFile.text(at: folder + "/schedstat", limit: 256)
        else { return 0 }
        return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0
    }

    private let process: pid_t
    private let policy: SandboxPolicy
    private let connection: WorkerGauge.Connection
    private let onReport: @Sendable (SandboxReport, _ inheritedPeak: UInt64) -> Void
    private let onRefusal: @Sendable (SandboxRefusal) -> Void
    private let onExcess: @Sendable (WorkerExcess) -> Void
    /// The sockets that are being connected, each on its own thread, by the identifier of the
    /// waiting call; `nil` once the worker has exited.
    private let connecting = Mutex<[UInt64: OwnedDescriptor]?>([:])
    private let wasDeniedMemory = Atomic(false)
    /// The thread's folder in `/proc`; `nil` until the thread runs.
    private let threadFolder = Mutex<String?>(nil)
    /// The state of the attempt that is being handled, and the tasks that wait until it is
    /// finished.
    private let looking = Mutex(Looking())
    private struct Looking {
        var isBusy = false
        var lastWaiter = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }
    private let ended = DispatchGroup()
    /// Both ends of the pipe, so that a write finds a reader even after the thread has ended.
    private let stopper: (read: OwnedDescriptor, write: OwnedDescriptor)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - socket: The host's end of the policy's socket.
    ///   - onRefusal: Called with each new denial, and at growing intervals for repeated denials;
    ///     see ``SandboxRefusal/count``.
    ///   - onExcess: Called once, if the worker must be terminated because of its resource use.
    init(
        _ process: pid_t, _ policy: SandboxPolicy, _ connection: WorkerGauge.Connection, socket: OwnedDescriptor,
        stop: (read: OwnedDescriptor, write: OwnedDescriptor),
        onReport: @escaping @Sendable (SandboxReport, _ inheritedPeak: UInt64) -> Void,
        onRefusal: @escaping @Sendable (SandboxRefusal) -> Void,
        onExcess: @escaping @Sendable (WorkerExcess) -> Void
    ) throws(ExtensionError) {
        (self.process, self.policy, self.onReport, self.onRefusal) = (process, policy, onReport, onRefusal)
        (self.onExcess, self.connection) = (onExcess, connection)
        stopper = stop
        ended.enter()
        let result = OwnThread.start("worker-watcher") { [self] in
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            threadFolder.withLock { $0 = link.map { "/proc/" + $0 } }
            watch(socket, stop: stop.read)
            ended.leave()
        }
        guard result == 0 else {
            ended.leave()
            throw .workerUnavailable(failing: "starting a thread", code: result)
        }
    }

    /// Waits until everything that the worker attempted before it exited is reported. Blocks for at
    /// most ``endGrace`` plus ``stopGrace``.
    func waitForEnd() {
        guard ended.wait(timeout: .now() + .milliseconds(Self.endGrace)) == .timedOut else { return }
        _ = write(stopper.write.number, Self.stop, 1)
        // The thread ends now, unless it gets no processor time or a process that the worker left
        // behind makes further attempts.
        _ = ended.wait(timeout: .now() + .milliseconds(Self.stopGrace))
    }

    /// Returns when everything that the worker has attempted so far is reported, or after
    /// ``WorkerOutput/answerGrace``.
    ///
    /// A worker continues while the path of its call is examined, so its reply may arrive first.
    /// All attempts that preceded the reply are already received, because the worker waited for
    /// each.
    func catchUp() async {
        await withCheckedContinuation { continuation in
            let number = looking.withLock { looking -> Int? in
                guard looking.isBusy else { return nil }
                looking.lastWaiter += 1
                looking.waiting[looking.lastWaiter] = continuation
                return looking.lastWaiter
            }
            guard let number else { return continuation.resume() }
            let deadline = DispatchTime.now() + .milliseconds(WorkerOutput.answerGrace)
            DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
                self?.looking.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
        }
    }

    /// Sets the busy state, and resumes the waiting tasks when it becomes `false`.
    private func setBusy(_ isBusy: Bool) {
        let waiting = looking.withLock { looking in
            looking.isBusy = isBusy
            guard !isBusy else { return [CheckedContinuation<Void, Never>]() }
            defer { looking.waiting = [:] }
            return Array(looking.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Requests an immediate measurement of the worker's resource use after a pause.
    func lookNow() { _ = write(stopper.write.number, Self.look, 1) }

    /// The messages to the thread: exit, or measure.
    private static let stop = "x", look = "l"

    /// Returns `true` if the message requests a measurement; otherwise the thread should exit.
    private static func isToldToLook(_ descriptor: OwnedDescriptor) -> Bool {
        var word: UInt8 = 0
        return read(descriptor.number, &word, 1) == 1 && [word] == Array(look.utf8)
    }

    private func watch(_ socket: OwnedDescriptor, stop: OwnedDescriptor) {
        var received = csandbox_report()
        var number: Int32 = -1
        guard csandbox_receive_report(socket.number, &received, &number) == 0 else { return }
        let report = SandboxReport(received, policy: policy)
        onReport(report, received.inherited_peak)
        // Without a listener no calls are forwarded, but resource use is still measured.
        let listener = number >= 0 ? OwnedDescriptor(adopting: number) : nil
        if let listener { csandbox_hasten(listener.number) }
        // Without Landlock file rules no file access is denied, so none is reported.
        var tally = AttemptTally(confinesFiles: report.applied.contains(.files))
        // Prepares the granted paths while the worker is still starting.
        _ = tally.granted(policy)
        var gauge = WorkerGauge(process, policy, connection)
        let isMeasured = policy.protections.contains(.limits)
        var due = Self.now() + gauge.wait
        var attempt = csandbox_attempt()
        loop: while true {
            let left = isMeasured ? max(due - Self.now(), 0) : -1
            switch csandbox_next_attempt(listener?.number ?? -1, stop.number, Int32(clamping: left), &attempt) {
            case 0:
                setBusy(true)
                if let listener { take(attempt, listener, &tally, &gauge) }
                setBusy(false)
            case EINTR, ETIMEDOUT: break
            case ECANCELED where Self.isToldToLook(stop): gauge.hasten()
            default: break loop
            }
            due = min(due, Self.now() + gauge.wait)
            guard isMeasured, Self.now() >= due else { continue }
            if let excess = gauge.look() {
                tell(excess.refusal, &tally)
                if excess.refusal.kind == .memory { wasDeniedMemory.store(true, ordering: .relaxed) }
                onExcess(excess)
            }
            if gauge.isMemoryUsedUp { denyMemory(&tally) }
            due = Self.now() + gauge.wait
        }
        stopConnecting()
        for refusal in tally.rest() { onRefusal(refusal) }
    }

    /// `true` if the worker was denied memory.
    var hasDeniedMemory: Bool { wasDeniedMemory.load(ordering: .relaxed) }

    /// Returns the monotonic time, in milliseconds.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    private func take(
        _ attempt: csandbox_attempt, _ owner: OwnedDescriptor, _ tally: inout AttemptTally, _ gauge: inout WorkerGauge
    ) {
        let listener = owner.number
        let isLookedAt = tally.looks < Self.maximumLooks
        func answer(_ error: Int32) { csandbox_answer_attempt(listener, attempt.id, error) }
        func proceed() { csandbox_continue_attempt(listener, attempt.id) }
        func refuse(_ error: Int32, _ refusal: SandboxRefusal) {
            // If the calling thread has ended, its number may be reused, and the memory that was
            // read may belong to another thread.
            if csandbox_attempt_is_waiting(listener, attempt.id) != 0 { tell(refusal, &tally) }
            answer(error)
        }
        switch AttemptedCall(attempt, process: process, allowsNetwork: policy.allowsNetwork) {
        case .files(let operands, let intent): takeFiles(attempt, operands, intent, listener, &tally, &gauge)
        case .attributes(let isLinkItself, let isList):
            takeAttributes(attempt, isLinkItself: isLinkItself, isList: isList, listener, &tally)
        case .changeMode:
            let name = isLookedAt ? AttemptedFile.link("/proc/\(process)/fd/\(attempt.number(0))") : nil
            let error = csandbox_change_mode(
                process, listener, attempt.id, attempt.number(0), UInt32(truncatingIfNeeded: attempt[1]))
            answer(error)
            // The host has cleared the set-ID bits.
            if error == EPERM || attempt[1] & 0o6000 != 0 {
                tell(SandboxRefusal(.permissions, name ?? "an open file"), &tally)
            }
        case .connect: connect(attempt, owner, &tally)
        case .makeThread:
            guard threads < Self.maximumThreads else {
                return refuse(EAGAIN, SandboxRefusal(.process, "one more thread than \(Self.maximumThreads)"))
            }
            proceed()
        case .cloneByStructure:
            var flags: UInt64 = 0
            // CLONE_THREAD. All C libraries try this call before `clone`.
            if csandbox_read_memory(attempt.thread, attempt[0], &flags, 8) == 0, flags & 0x10000 == 0 {
                tell(SandboxRefusal(.process, "clone3"), &tally)
            }
            answer(ENOSYS)
        case .target(let name, let argument, let kind):
            let isProcess = kind.map { attempt[$0.argument] & 0xFFFF_FFFF == $0.process } ?? true
            guard isProcess, isThread(attempt.number(argument)) else {
                return refuse(EPERM, SandboxRefusal(.inspection, attempt.detail(.inspection, name, process: process)))
            }
            proceed()
        case .clock(let name):
            guard attempt.clockOwner == 0 || isThread(attempt.clockOwner) else {
                return refuse(EPERM, SandboxRefusal(.inspection, attempt.detail(.inspection, name, process: process)))
            }
            proceed()
        case .memory(let call): takeMemory(MemoryRequest(call, attempt), attempt, listener, &tally, &gauge)
        case .allocate:
            let isRoom = gauge.mayAllocate(attempt[3]) {
                AttemptedFile.link("/proc/\(process)/fd/\(attempt.number(0))")
            }
            guard isRoom else {
                return refuse(EDQUOT, WorkerExcess.temporaryFolder("\(policy.temporaryBytes >> 20) MiB").refusal)
            }
            proceed()
        case .timer:
            // Values 1 to 3 are the caller's clocks, such as CLOCK_PROCESS_CPUTIME_ID. Negative
            // values name a process or thread.
            guard attempt.number(0) >= 0 || isThread(attempt.clockOwner) || attempt.clockOwner == 0 else {
                let detail = attempt.detail(.inspection, "timer_create", process: process)
                return refuse(EPERM, SandboxRefusal(.inspection, detail))
            }
            if let refusal = ResourceLimit.signals.refusal(of: process) { tell(refusal, &tally) }
            proceed()
        case .limited(let limit):
            if let refusal = limit.refusal(of: process) { tell(refusal, &tally) }
            proceed()
        case .enlargeBuffers: answer(0)
        case .enlargeBuffersByForce: answer(EPERM)
        case .refused(let kind, let name):
            let detail = isLookedAt ? attempt.detail(kind, name, process: process) : name
            let remedy = kind == .network && policy.allowsNetwork ? attempt.networkRemedy(name) : nil
            refuse(EPERM, SandboxRefusal(kind, detail, remedy: remedy))
        case .unknown:
            refuse(ENOSYS, SandboxRefusal(.kernel, AttemptedCall.name(attempt.number)))
        }
    }

    /// Handles calls that access files. The kernel performs them within the Landlock rules; the
    /// host denies accesses that Landlock rules cannot express.
    private func takeFiles(
        _ attempt: csandbox_attempt, _ operands: [AttemptedCall.Operand], _ intent: AttemptedCall.Intent,
        _ listener: Int32, _ tally: inout AttemptTally, _ gauge: inout WorkerGauge
    ) {
        func refuse(_ error: Int32, _ refusal: SandboxRefusal) {
            tell(refusal, &tally)
            csandbox_answer_attempt(listener, attempt.id, error)
        }
        if attempt.makesSetIdFile(intent) {
            return refuse(EPERM, SandboxRefusal(.permissions, "a new file, to run as its owner or group"))
        }
        if attempt.makesSpecialFile(intent) {
            let path = operands.first.flatMap { attempt.path($0, process: process) }
            let detail = "\(path ?? "a file") (a special file)"
            return refuse(EPERM, SandboxRefusal(.write, detail, remedy: SandboxRefusal.Remedy.none))
        }
        if attempt.opensForControl(intent) {
            let path = operands.first.flatMap { attempt.path($0, process: process) }
            let file = path.flatMap { AttemptedFile.target($0, isLinkItself: false, process: process) } ?? path
            return refuse(EACCES, SandboxRefusal(.write, "\(file ?? "a file") (opened for control)"))
        }
        if attempt.mayMakeFile(intent), !gauge.mayMakeFile() {
            return refuse(EDQUOT, WorkerExcess.temporaryFolder("\(policy.temporaryFiles) files").refusal)
        }
        if case .flags(let argument) = intent, let operand = operands.first {
            let flags = attempt.number(argument)
            // An O_PATH descriptor gives no access, and Landlock does not check it.
            if flags & AttemptedFile.O_PATH_flag == 0,
                openOfProcess(attempt, operand, flags: flags, listener, &tally)
            {
                return
            }
        }
        if case .flags = intent, let refusal = ResourceLimit.descriptors.refusal(of: process) { tell(refusal, &tally) }
        let files =
            tally.looks < Self.maximumLooks && tally.confinesFiles
            ? AttemptedFile.read(attempt, operands, intent, process: process) : []
        if case .how = intent {
            // The arguments are in memory and can change after a check. All programs fall back to
            // openat.
            csandbox_answer_attempt(listener, attempt.id, ENOSYS)
        } else {
            csandbox_continue_attempt(listener, attempt.id)
        }
        for file in files {
            if let refusal = file.refusal(tally.granted(policy), process: process) { tell(refusal, &tally) }
        }
    }

    /// Opens a file in `/proc` for the worker, or denies it.
    ///
    /// - Returns: `true` if the call was answered; `false` for all other files.
    private func openOfProcess(
        _ attempt: csandbox_attempt, _ operand: AttemptedCall.Operand, flags: Int32, _ listener: Int32,
        _ tally: inout AttemptTally
    ) -> Bool {
        guard let path = attempt.path(operand, process: process) else { return false }
        func refuse(_ refusal: SandboxRefusal) -> Bool {
            if csandbox_attempt_is_waiting(listener, attempt.id) != 0 { tell(refusal, &tally) }
            csandbox_answer_attempt(listener, attempt.id, EACCES)
            return true
        }
        switch ProcessPath(path, process: process, thread: attempt.thread) {
        case .elsewhere, .means: return false
        case .others where ProcessPath.isOfEndedThread(path):
            // The reply is the same as for other processes, so it does not show which ones exist.
            csandbox_answer_attempt(listener, attempt.id, EACCES)
            return true
        case .others(let detail): return refuse(SandboxRefusal(.inspection, detail))
        case .closed: return refuse(SandboxRefusal(flags & O_ACCMODE == O_RDONLY ? .read : .write, path))
        case .file(let own):
            guard flags & (O_ACCMODE | O_CREAT | O_TRUNC) == O_RDONLY else {
                return refuse(SandboxRefusal(.write, path))
            }
            let error = csandbox_open_for_attempt(listener, attempt.id, own, flags)
            if error != 0 { csandbox_answer_attempt(listener, attempt.id, error) }
            return true
        }
    }

    /// Reads the extended attributes of a path for the worker, if it may read the file.
    private func takeAttributes(
        _ attempt: csandbox_attempt, isLinkItself: Bool, isList: Bool, _ listener: Int32, _ tally: inout AttemptTally
    ) {
        func answer(_ error: Int32) { csandbox_answer_attempt(listener, attempt.id, error) }
        guard var path = attempt.path(AttemptedCall.Operand(path: 0), process: process) else { return answer(ENOENT) }
        switch ProcessPath(path, process: process, thread: attempt.thread) {
        case .elsewhere: break
        case .means(let meant): path = meant
        // Files in `/proc` have no extended attributes.
        case .file, .closed: return answer(EOPNOTSUPP)
        case .others(let detail):
            tell(SandboxRefusal(.inspection, detail), &tally)
            return answer(EACCES)
        }
        let number = open(path, AttemptedFile.O_PATH_flag | O_CLOEXEC | (isLinkItself ? O_NOFOLLOW : 0))
        guard number >= 0 else { return answer(errno) }
        let file = OwnedDescriptor(adopting: number)
        guard let real = AttemptedFile.link("/proc/self/fd/\(file.number)"),
            tally.granted(policy).allow(real, isChange: false)
        else {
            tell(SandboxRefusal(.read, AttemptedFile.link("/proc/self/fd/\(file.number)") ?? path), &tally)
            return answer(EACCES)
        }
        let name = isList ? nil : attempt.text(1)
        if !isList, name == nil { return answer(EFAULT) }
        let place = isList ? 1 : 2
        guard csandbox_attempt_is_waiting(listener, attempt.id) != 0 else { return }
        let result = csandbox_read_attribute(file.number, name, attempt.thread, attempt[place], attempt[place + 1])
        if result < 0 {
            answer(Int32(clamping: -result))
        } else {
            csandbox_answer_value(listener, attempt.id, result)
        }
    }

    /// Connects a socket for the worker, if the address belongs to another machine.
    private func connect(_ attempt: csandbox_attempt, _ owner: OwnedDescriptor, _ tally: inout AttemptTally) {
        let listener = owner.number
        func answer(_ error: Int32) { csandbox_answer_attempt(listener, attempt.id, error) }
        let count = Int(UInt32(truncatingIfNeeded: attempt[2]))
        guard count >= 2, count <= NetworkTarget.maximumBytes else { return answer(EINVAL) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = csandbox_read_memory(attempt.thread, attempt[1], &bytes, count)
        guard read == 0 else { return answer(read) }
        let verdict = NetworkTarget(bytes: bytes).verdict()
        if case .unreachable(let error) = verdict { return answer(error) }
        guard verdict == .allowed else {
            let remedy: SandboxRefusal.Remedy = verdict == .thisMachine ? .otherMachines : .tcpAlone
            tell(
                SandboxRefusal(
                    .network, attempt.detail(.network, "connect", process: process), remedy: remedy), &tally)
            return answer(verdict == .thisMachine ? ECONNREFUSED : EPERM)
        }
        var number: Int32 = -1
        let error = csandbox_copy_tcp_socket(process, listener, attempt.id, attempt.number(0), &number)
        guard error == 0 else {
            if error == EPERM {
                tell(SandboxRefusal(.network, "connect of a socket that is not of TCP", remedy: .tcpAlone), &tally)
            }
            return answer(error)
        }
        let (socket, identifier, address) = (OwnedDescriptor(adopting: number), attempt.id, bytes)
        let isTaken = connecting.withLock { connecting in
            guard let count = connecting?.count, count < Self.maximumConnecting else { return false }
            connecting?[identifier] = socket
            return true
        }
        guard isTaken else { return answer(EAGAIN) }
        // The `connect` call may block regardless of the socket's flags, because the worker can
        // change them at any time.
        let started = OwnThread.start("worker-connect") { [self] in
            let error = csandbox_connect(socket.number, address, UInt32(count))
            connecting.withLock { $0?[identifier] = nil }
            csandbox_answer_attempt(owner.number, identifier, error)
        }
        guard started != 0 else { return }
        connecting.withLock { $0?[identifier] = nil }
        answer(EAGAIN)
    }

    /// Shuts down the sockets that are being connected, so that no thread waits on behalf of an
    /// exited worker.
    private func stopConnecting() {
        let sockets = connecting.withLock { connecting in
            defer { connecting = nil }
            return connecting ?? [:]
        }
        for socket in sockets.values { csandbox_stop_connecting(socket.number) }
    }

    private func takeMemory(
        _ request: MemoryRequest, _ attempt: csandbox_attempt, _ listener: Int32, _ tally: inout AttemptTally,
        _ gauge: inout WorkerGauge
    ) {
        if request.call == .remap { gauge.note(growth: request.growth) }
        var memory = csandbox_memory()
        let isKnown = csandbox_measure_memory(process, &memory) == 0
        // The kernel does not count the memory of files that were written and closed.
        if isKnown, request.growth > 0, gauge.hasAllMemory(memory) {
            denyMemory(&tally)
            return csandbox_answer_attempt(listener, attempt.id, ENOMEM)
        }
        switch request.verdict(isKnown ? memory : nil, policy) {
        case .proceed: break
        case .exceeds: denyMemory(&tally)
        case .exceedsAddresses:
            wasDeniedMemory.store(true, ordering: .relaxed)
            tell(SandboxRefusal(.memory, "more addresses than \(policy.addressSpaceLimit >> 20) MiB"), &tally)
        case .refused(let error, let refusal):
            if refusal.kind == .memory { wasDeniedMemory.store(true, ordering: .relaxed) }
            tell(refusal, &tally)
            return csandbox_answer_attempt(listener, attempt.id, error)
        case .code(let descriptor):
            // The worker could have written the code in a writable file.
            let file = AttemptedFile.link("/proc/\(process)/fd/\(descriptor)")
            guard let file, file.hasPrefix("/"), !file.hasSuffix(" (deleted)"),
                !tally.granted(policy).allow(file, isChange: true)
            else {
                tell(SandboxRefusal(.kernel, "mmap for code in a file that it can write"), &tally)
                return csandbox_answer_attempt(listener, attempt.id, EPERM)
            }
        }
        csandbox_continue_attempt(listener, attempt.id)
    }

    /// Reports that the worker has reached its memory limit.
    private func denyMemory(_ tally: inout AttemptTally) {
        wasDeniedMemory.store(true, ordering: .relaxed)
        tell(SandboxRefusal(.memory, "more than its limit of \(policy.memoryLimit >> 20) MiB"), &tally)
    }

    private func isThread(_ number: pid_t) -> Bool {
        number == process || number > 0 && access("/proc/\(process)/task/\(number)", F_OK) == 0
    }

    /// The number of the worker's threads, without listing them.
    private var threads: Int {
        var status = stat()
        // The folder's link count is the number of threads plus two.
        return stat("/proc/\(process)/task", &status) == 0 ? Int(status.st_nlink) - 2 : 0
    }

    private func tell(_ refusal: SandboxRefusal, _ tally: inout AttemptTally) {
        var refusal = refusal
        // Each worker has its own folder. With the variable's name instead, equal attempts by
        // several workers are counted together.
        if let folder = policy.temporaryFolder {
            refusal.detail.replace(folder, with: "$TMPDIR", maxReplacements: 1)
        }
        if let told = tally.add(refusal) { onRefusal(told) }
    }
}

extension WorkerExcess {
    /// The excess as a denial to report.
    var refusal: SandboxRefusal {
        switch self {
        case .temporaryFolder(let quota): SandboxRefusal(.limit, "\(quota) in its temporary folder")
        case .memory: SandboxRefusal(.memory, "files in memory beyond its limit")
        case .ownMemory(let limit): SandboxRefusal(.memory, "more than its limit of \(limit >> 20) MiB")
        case .descriptorsInFlight: SandboxRefusal(.limit, "descriptors that it sends to itself and does not receive")
        case .locks: SandboxRefusal(.limit, "\(CSANDBOX_MAXIMUM_LOCKS) file locks")
        case .mappings: SandboxRefusal(.limit, "65536 pieces of memory")
        case .unmeasured(let reason): SandboxRefusal(.limit, "use that cannot be measured: \(reason)")
        }
    }
}

/// The number of attempts by one worker, by kind.
struct AttemptTally {
    let confinesFiles: Bool
    private(set) var looks = 0
    private struct Count {
        var refusal: SandboxRefusal
        var all = 0
        var untold = 0
    }
    private var counts: [SandboxRefusal: Count] = [:]
    private var paths: GrantedPaths?

    init(confinesFiles: Bool) { self.confinesFiles = confinesFiles }

    mutating func granted(_ policy: SandboxPolicy) -> GrantedPaths {
        if let paths { return paths }
        let now = GrantedPaths(policy)
        paths = now
        return now
    }

    /// Counts a denial. Returns the denial if it should be reported now: the first time, and then
    /// at 10, 100, … attempts.
    mutating func add(_ refusal: SandboxRefusal) -> SandboxRefusal? {
        looks += 1
        var key = refusal
        if counts[key] == nil, counts.count >= AttemptWatcher.maximumDistinct {
            key = SandboxRefusal(refusal.kind, "(more than are listed)")
        }
        var count = counts[key] ?? Count(refusal: key)
        count.all += 1
        count.untold += 1
        defer { counts[key] = count }
        var power = 1
        while power < count.all { power *= 10 }
        guard power == count.all else { return nil }
        var told = key
        told.count = count.untold
        count.untold = 0
        return told
    }

    /// Returns the denials that have not been reported yet.
    func rest() -> [SandboxRefusal] {
        counts.values.filter { $0.untold > 0 }.map { count in
            var told = count.refusal
            told.count = count.untold
            return told
        }
    }
}
