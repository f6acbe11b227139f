// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Runs child processes, including this program, for measurements that a process can make only
/// once.
enum ChildProcess {
    /// Returns the output of this program with some arguments.
    static func output(_ arguments: [String]) throws -> String {
        try output(of: URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path, arguments)
    }

    /// Returns the output of a program. Throws if the program fails or exceeds the time limit.
    static func output(
        of program: String, _ arguments: [String], standardError: FileHandle = .standardError, limit: Duration? = nil
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = standardError
        let start = ContinuousClock.now
        try RunningChildren.run(process)
        defer { RunningChildren.forget(process) }
        let end = DispatchWorkItem { process.terminate() }
        if let limit { DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1), execute: end) }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        end.cancel()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            if let limit, ContinuousClock.now - start >= limit {
                throw BenchmarkError("It was ended after its limit of \(limit.components.seconds) s.")
            }
            let way = process.terminationReason == .exit ? "status" : "signal"
            throw BenchmarkError("\(program) ended with \(way) \(process.terminationStatus); its output is above.")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// The child processes to terminate when this program ends.
enum RunningChildren {
    private static let running = Mutex<[pid_t]>([])

    static func run(_ process: Process) throws {
        try process.run()
        note(process.processIdentifier)
    }

    static func forget(_ process: Process) { forget(process.processIdentifier) }

    static func note(_ process: pid_t) { running.withLock { $0.append(process) } }

    /// Removes a child from the list. Call this before waiting for the child, since its process ID
    /// may then be reused.
    static func forget(_ process: pid_t) { running.withLock { $0.removeAll { $0 == process } } }

    static func terminate() {
        for child in running.withLock({ $0 }) { kill(child, SIGTERM) }
    }
}

/// Terminates the children on SIGINT or SIGTERM before this program exits, as long as the instance
/// exists.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    init() {
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                RunningChildren.terminate()
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }
}
