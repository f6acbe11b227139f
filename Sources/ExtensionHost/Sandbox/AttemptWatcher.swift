// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import ServiceProtocol
import Synchronization

/// Looks on at what one worker tries, refuses what the filter put before the host, and tells.
///
/// One thread for each worker, which ends with it. A worker can make this thread busy but not block it: nothing that it
/// names is opened for reading or writing, every text is bounded, and a file system that hangs holds up this thread
/// alone. Files are opened by the worker itself, as far as Landlock lets it: it goes on before its path is looked at.
final class AttemptWatcher: Sendable {
    /// How many different refusals of one worker are told; the rest is one more.
    static let maximumDistinct = 64
    /// After so many, attempts are refused without a look at what they are.
    static let maximumLooks = 20_000
    /// The most threads of one worker. Without a limit it could take all that its user may have, and the host could start
    /// none; memory does not bound them, for many can share one stack. libdispatch's pools take some 300 at most.
    static let maximumThreads = 512
    /// How long to wait after the worker's end for what it tried before, in milliseconds.
    private static let endGrace = 200
    /// How long to wait for the thread once it was told to stop, in milliseconds; a busy machine may keep it from running.
    private static let stopGrace = 2000

    private let process: pid_t
    private let policy: SandboxPolicy
    private let onReport: @Sendable (SandboxReport, _ inheritedPeak: UInt64) -> Void
    private let onRefusal: @Sendable (SandboxRefusal) -> Void
    private let ended = DispatchGroup()
    private let stopper: OwnedDescriptor

    /// - Parameters:
    ///   - socket: The host's end of the policy's socket.
    ///   - onRefusal: Told of a refusal the first time, and of more of the same seldom; see ``SandboxRefusal/count``.
    init(
        _ process: pid_t, _ policy: SandboxPolicy, socket: OwnedDescriptor,
        stop: (read: OwnedDescriptor, write: OwnedDescriptor),
        onReport: @escaping @Sendable (SandboxReport, _ inheritedPeak: UInt64) -> Void,
        onRefusal: @escaping @Sendable (SandboxRefusal) -> Void
    ) throws(ExtensionError) {
        (self.process, self.policy, self.onReport, self.onRefusal) = (process, policy, onReport, onRefusal)
        stopper = stop.write
        ended.enter()
        let result = OwnThread.start("worker-watcher") { [self] in
            watch(socket, stop: stop.read)
            ended.leave()
        }
        guard result == 0 else {
            ended.leave()
            throw .workerUnavailable(failing: "starting a thread", code: result)
        }
    }

    /// Waits until everything was told that the worker tried before its end; blocks for ``endGrace`` and
    /// ``stopGrace`` at most.
    func waitForEnd() {
        guard ended.wait(timeout: .now() + .milliseconds(Self.endGrace)) == .timedOut else { return }
        _ = write(stopper.number, "x", 1)
        // The thread ends at once now, unless it did not get to run yet, or a process that the worker left goes on trying.
        _ = ended.wait(timeout: .now() + .milliseconds(Self.stopGrace))
    }

    private func watch(_ socket: OwnedDescriptor, stop: OwnedDescriptor) {
        var received = csandbox_report()
        var number: Int32 = -1
        guard csandbox_receive_report(socket.number, &received, &number) == 0 else { return }
        let report = SandboxReport(received, policy: policy)
        onReport(report, received.inherited_peak)
        guard number >= 0 else { return }
        let listener = OwnedDescriptor(adopting: number)
        csandbox_hasten(listener.number)
        // Where Landlock does not confine files, nothing is refused, and nothing must be told.
        var tally = AttemptTally(confinesFiles: report.applied.contains(.files))
        var attempt = csandbox_attempt()
        loop: while true {
            switch csandbox_next_attempt(listener.number, stop.number, &attempt) {
            case 0: take(attempt, listener.number, &tally)
            case EINTR: continue
            default: break loop
            }
        }
        for refusal in tally.rest() { onRefusal(refusal) }
    }

    private func take(_ attempt: csandbox_attempt, _ listener: Int32, _ tally: inout AttemptTally) {
        let isLookedAt = tally.looks < Self.maximumLooks
        switch AttemptedCall(attempt) {
        case .files(let operands, let intent):
            if attempt.makesSetIdFile(intent) {
                tell(SandboxRefusal(.permissions, "a new file, to run as its owner or group"), &tally)
                csandbox_answer_attempt(listener, attempt.id, EPERM)
                return
            }
            let files =
                isLookedAt && tally.confinesFiles
                ? AttemptedFile.read(attempt, operands, intent, process: process) : []
            if case .how = intent {
                // What it asks for is in memory and can change after a look; everybody falls back to openat.
                csandbox_answer_attempt(listener, attempt.id, ENOSYS)
            } else {
                csandbox_continue_attempt(listener, attempt.id)
            }
            for file in files {
                if let refusal = file.refusal(tally.granted(policy), process: process) { tell(refusal, &tally) }
            }
        case .changeMode:
            let name = isLookedAt ? AttemptedFile.link("/proc/\(process)/fd/\(attempt.number(0))") : nil
            let error = csandbox_change_mode(
                process, listener, attempt.id, attempt.number(0), UInt32(truncatingIfNeeded: attempt[1]))
            csandbox_answer_attempt(listener, attempt.id, error)
            if error == EPERM { tell(SandboxRefusal(.permissions, name ?? "an open file"), &tally) }
        case .makeThread:
            if Self.threads(of: process) < Self.maximumThreads {
                csandbox_continue_attempt(listener, attempt.id)
            } else {
                tell(SandboxRefusal(.process, "one more thread than \(Self.maximumThreads)"), &tally)
                csandbox_answer_attempt(listener, attempt.id, EAGAIN)
            }
        case .refused(let kind, let name):
            let refusal = SandboxRefusal(kind, isLookedAt ? attempt.detail(kind, name, process: process) : name)
            // What was read is of no use if somebody else has the thread's number by now.
            let isThere = csandbox_attempt_is_waiting(listener, attempt.id) != 0
            if isThere { tell(refusal, &tally) }
            csandbox_answer_attempt(listener, attempt.id, EPERM)
        case .unknown:
            tell(SandboxRefusal(.kernel, AttemptedCall.name(attempt.number)), &tally)
            csandbox_answer_attempt(listener, attempt.id, ENOSYS)
        }
    }

    /// How many threads a process has, without listing them.
    private static func threads(of process: pid_t) -> Int {
        var status = stat()
        // The folder of its threads has a link for each, and two of its own.
        return stat("/proc/\(process)/task", &status) == 0 ? Int(status.st_nlink) - 2 : 0
    }

    private func tell(_ refusal: SandboxRefusal, _ tally: inout AttemptTally) {
        if let told = tally.add(refusal) { onRefusal(told) }
    }
}

/// How often one worker tried what.
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

    /// Counts one refusal; gives back what is to be told now: the first, and when it is ten, a hundred, … times as many.
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

    /// What was not told yet.
    func rest() -> [SandboxRefusal] {
        counts.values.filter { $0.untold > 0 }.map { count in
            var told = count.refusal
            told.count = count.untold
            return told
        }
    }
}
