// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Foundation
import Glibc
import ServiceProtocol
import Synchronization

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

    private struct State {
        var exit: WorkerExit?
        var waiters: [CheckedContinuation<WorkerExit, Never>] = []
        var onExit: [@Sendable () -> Void] = []
        var wasEndedByHost = false
    }
    private let state = Mutex(State())

    init(
        _ configuration: WorkerConfiguration, onLine: @escaping @Sendable (String) -> Void
    ) throws(ExtensionError) {
        var sockets: [Int32] = [-1, -1]
        var pipes: [Int32] = [-1, -1]
        try Self.check(csandbox_socket_pair(&sockets), "creating its connection")
        connection = OwnedDescriptor(adopting: sockets[0])
        let workerEnd = OwnedDescriptor(adopting: sockets[1])
        try Self.check(csandbox_pipe(&pipes), "creating a pipe for its output")
        let readEnd = OwnedDescriptor(adopting: pipes[0])
        let writeEnd = OwnedDescriptor(adopting: pipes[1])
        output = try WorkerOutput(reading: readEnd, onLine: onLine)

        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(configuration.workerPath), nil]
        var variables: [UnsafeMutablePointer<CChar>?] = configuration.workerEnvironment.map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid: pid_t = 0
        let code = csandbox_spawn(
            configuration.workerPath, &arguments, &variables, workerEnd.number, writeEnd.number, &pid)
        if code != 0 { output.stop() }
        try Self.check(code, "starting \(configuration.workerPath)")
        identifier = pid
        Thread.detachNewThread { [self] in waitForEnd() }
    }

    /// Ends the worker and what it started, at once. Harmless when it has ended.
    func terminate() {
        state.withLock { state in
            guard state.exit == nil else { return }
            state.wasEndedByHost = true
            // Itself too: it may have left its group.
            kill(-identifier, SIGKILL)
            kill(identifier, SIGKILL)
        }
    }

    /// Whether it has ended and been reaped.
    var hasEnded: Bool { state.withLock { $0.exit != nil } }

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

    private func waitForEnd() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        // What the worker started has no business without it, and may hold its output open.
        kill(-identifier, SIGKILL)
        output.waitForEnd()
        let (waiters, actions, exit) = state.withLock { state in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            let signal = status & 0x7F
            let exit: WorkerExit =
                if signal == 0 {
                    .exited((status >> 8) & 0xFF)
                } else if signal == SIGKILL && state.wasEndedByHost {
                    .endedByHost
                } else {
                    .signalled(signal)
                }
            state.exit = exit
            defer { (state.waiters, state.onExit) = ([], []) }
            return (state.waiters, state.onExit, exit)
        }
        for action in actions { action() }
        for waiter in waiters { waiter.resume(returning: exit) }
    }

    private static func check(_ code: Int32, _ operation: String) throws(ExtensionError) {
        if code != 0 { throw .workerUnavailable(reason: "\(operation) failed: \(String(cString: strerror(code))).") }
    }
}
