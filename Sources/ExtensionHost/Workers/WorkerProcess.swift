// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Glibc
import ServiceProtocol
import Synchronization

/// One worker process: started, watched, ended and reaped here and nowhere else.
final class WorkerProcess: Sendable {
    let identifier: pid_t
    /// Everything the worker prints.
    let output: WorkerOutput
    /// The host's end of the connection; taken by whoever speaks over it.
    let connection: OwnedDescriptor
    private let state = Mutex(State())
    private struct State {
        var exit: WorkerExit?
        var waiters: [CheckedContinuation<WorkerExit, Never>] = []
        var isReaping = false
    }

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

        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(configuration.workerPath), nil]
        var variables: [UnsafeMutablePointer<CChar>?] = configuration.workerEnvironment.map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var pid: pid_t = 0
        try Self.check(
            csandbox_spawn(
                configuration.workerPath, &arguments, &variables, workerEnd.number, writeEnd.number, &pid),
            "starting \(configuration.workerPath)")
        identifier = pid
        output = WorkerOutput(reading: readEnd, onLine: onLine)
    }

    deinit { if state.withLock({ $0.exit == nil && !$0.isReaping }) { kill(identifier, SIGKILL) } }

    /// Ends the worker at once. Harmless when it has ended already: the process is only reaped in ``exit()``.
    func terminate() {
        state.withLock { if $0.exit == nil { _ = kill(identifier, SIGKILL) } }
    }

    /// How the worker ended; ends it first if it has not.
    func exit() async -> WorkerExit {
        terminate()
        return await withCheckedContinuation { (continuation: CheckedContinuation<WorkerExit, Never>) in
            let (known, mustReap) = state.withLock { state -> (WorkerExit?, Bool) in
                if let exit = state.exit { return (exit, false) }
                state.waiters.append(continuation)
                defer { state.isReaping = true }
                return (nil, !state.isReaping)
            }
            if let known { continuation.resume(returning: known) }
            if mustReap { DispatchQueue.global().async { self.reap() } }
        }
    }

    private func reap() {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        let exit: WorkerExit = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        output.waitForEnd()
        let waiters = state.withLock { state in
            state.exit = exit
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: exit) }
    }

    private static func check(_ code: Int32, _ operation: String) throws(ExtensionError) {
        if code != 0 { throw .workerUnavailable(reason: "\(operation) failed: \(String(cString: strerror(code))).") }
    }
}
