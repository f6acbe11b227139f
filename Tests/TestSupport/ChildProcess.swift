// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Foundation
import Glibc
import Synchronization

/// A program that a test runs. May be used from any thread.
///
/// Replaces `Foundation.Process`. That type detects a program's exit by a descriptor that the
/// program may close earlier, as systemd-socket-activate does. It then blocks on this program and
/// does not notice when other programs exit. Its programs also inherit the blocked signals of the
/// starting thread.
public final class ChildProcess: Sendable {
    /// The target of a standard stream of the program.
    public enum Stream {
        /// `/dev/null`.
        case nothing
        /// The corresponding stream of this process.
        case inherited
        /// A pipe. This process closes the program's end after the start.
        case pipe(Pipe)
        /// An open file.
        case file(FileHandle)
    }

    /// The result of a program: its exit status, or the signal that terminated it.
    public enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(Int32)

        /// The exit status, or 128 plus the signal number, as in a shell.
        public var status: Int32 {
            switch self {
            case .exited(let status): status
            case .killed(let signal): 128 + signal
            }
        }
    }

    /// The error for a program that could not be started.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The process ID. It may be reused once the program has been waited for.
    public let identifier: pid_t
    private let end = Mutex<Ending?>(nil)
    /// The process IDs of started programs that have not been waited for.
    private static let unwaited = Mutex<Set<pid_t>>([])

    /// Starts a program with only the three standard descriptors and without blocked or ignored
    /// signals.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - environment: The complete environment; `nil` for the environment of this process.
    ///   - errors: The target of standard error; `nil` for standard output.
    /// - Throws: ``Failure``.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: Stream = .nothing,
        output: Stream = .nothing, errors: Stream? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [(0, input), (1, output), (2, errors)] as [(Int32, Stream?)] {
            switch stream {
            case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .inherited: break
            case .pipe(let pipe):
                let end = number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
                posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, number)
            case .file(let handle): posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, number)
            case nil: posix_spawn_file_actions_adddup2(&actions, 1, number)
            }
        }
        let kept = ctestsupport_keep_standard_streams(&actions)
        guard kept == 0 else {
            throw Failure(
                description: "Keeping descriptors from \(program) failed: \(String(cString: strerror(kept))).")
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        let values = environment ?? ProcessInfo.processInfo.environment
        var variables: [UnsafeMutablePointer<CChar>?] = values.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var number = pid_t()
        let code = Self.unwaited.withLock { unwaited in
            let code = posix_spawn(&number, program, &actions, &attributes, &words, &variables)
            if code == 0 { unwaited.insert(number) }
            return code
        }
        guard code == 0 else {
            throw Failure(description: "Starting \(program) failed: \(String(cString: strerror(code))).")
        }
        identifier = number
        if case .pipe(let pipe) = input { try? pipe.fileHandleForReading.close() }
        for case .pipe(let pipe)? in [output, errors] { try? pipe.fileHandleForWriting.close() }
    }

    /// `true` if the program has not ended.
    public var isRunning: Bool { end.withLock { poll(&$0) } == nil }

    /// Waits until the program exits. Blocks the thread.
    @discardableResult
    public func wait() -> Ending {
        while true {
            // Waits with WNOWAIT, without reaping: only under the lock is the process ID known to
            // be still in use.
            var information = siginfo_t()
            _ = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT)
            if let ending = end.withLock({ poll(&$0) }) { return ending }
        }
    }

    /// Sends a signal, unless the program is known to have exited.
    public func send(_ signal: Int32) {
        end.withLock { end in if poll(&end) == nil { kill(identifier, signal) } }
    }

    /// Runs a program to its end.
    ///
    /// - Parameter input: The standard input, at most the capacity of a pipe (1 MiB).
    /// - Returns: The program's ending, and its standard output and standard error.
    /// - Throws: ``Failure``.
    public static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String = ""
    ) throws -> (ending: Ending, output: String) {
        let (feed, output) = (Pipe(), Pipe())
        // Written before the start, because writing to a program that exits without reading would
        // raise SIGPIPE.
        if input.utf8.count > 32 << 10 {
            _ = fcntl(feed.fileHandleForWriting.fileDescriptor, Self.setPipeSize, 1 << 20)
        }
        try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        let process = try ChildProcess(
            program, arguments, environment: environment, input: .pipe(feed), output: .pipe(output))
        try feed.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return (process.wait(), String(decoding: data, as: UTF8.self))
    }

    /// Reaps an exited child that this process inherited, never one that it started. Works for any
    /// process name: a child that was killed before exec(2) has the name of a thread.
    public static func reapInherited(_ process: pid_t) {
        unwaited.withLock { unwaited in
            var status: Int32 = 0
            if !unwaited.contains(process) { waitpid(process, &status, WNOHANG) }
        }
    }

    /// F_SETPIPE_SZ of fcntl(2), which Swift does not import.
    private static let setPipeSize: Int32 = 1031

    private func poll(_ end: inout Ending?) -> Ending? {
        if let end { return end }
        var status: Int32 = 0
        let (result, failure) = Self.unwaited.withLock { unwaited in
            let result = waitpid(identifier, &status, WNOHANG)
            if result != 0 { unwaited.remove(identifier) }
            return (result, errno)
        }
        // Other code reaped the process, so its ending is unknown.
        if result < 0, failure == ECHILD { end = .exited(-1) }
        guard result == identifier else { return end }
        let signal = status & 0x7F
        end = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal)
        return end
    }

    /// Kills a program that a failed test left running.
    deinit {
        send(SIGKILL)
        wait()
    }
}
