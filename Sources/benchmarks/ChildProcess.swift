// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Programs that are run beside this one, among them this program again, for what can only be measured once in a process.
enum ChildProcess {
    /// What it prints, given some arguments.
    static func output(_ arguments: [String]) throws -> String {
        try output(of: URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path, arguments)
    }

    /// What a program prints; it is an error if it fails, or takes longer than it may.
    static func output(
        of program: String, _ arguments: [String], standardError: FileHandle = .standardError, limit: Duration? = nil
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = standardError
        try RunningChildren.run(process)
        defer { RunningChildren.forget(process) }
        let end = DispatchWorkItem { process.terminate() }
        if let limit {
            DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: end)
        }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let isOverdue = limit != nil && process.terminationReason == .uncaughtSignal
        end.cancel()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw BenchmarkError(
                isOverdue
                    ? "it was stopped by signal \(process.terminationStatus); it may take \(limit ?? .zero)"
                    : "“\(([program] + arguments).joined(separator: " "))” failed (\(process.terminationStatus))")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// What has to end with this program, also when somebody interrupts it.
enum RunningChildren {
    private static let running = Mutex<[pid_t]>([])
    private static let signals = Mutex<[any DispatchSourceSignal]>([])

    static func run(_ process: Process) throws {
        try process.run()
        running.withLock { $0.append(process.processIdentifier) }
    }

    static func forget(_ process: Process) {
        running.withLock { $0.removeAll { $0 == process.processIdentifier } }
    }

    /// From now on, interrupting or terminating this program does so to its children first.
    static func endWithThisProgram() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                for child in running.withLock({ $0 }) { kill(child, SIGTERM) }
                // As if it had not been caught.
                signal(number, SIG_DFL)
                raise(number)
                _exit(128 + number)
            }
            source.resume()
            signals.withLock { $0.append(source) }
        }
    }
}
