// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// A started program. A dedicated thread waits until it exits and reaps it, so that no zombie
/// remains.
///
/// The program leads its own session, without a terminal, with `/dev/null` as its standard streams,
/// without blocked or ignored signals, and without other descriptors of this process.
struct StartedProgram: Sendable {
    /// The result of a program: its exit status, or the signal that terminated it.
    enum Ending: Hashable, Sendable {
        case exited(Int32)
        case killed(Int32)
    }

    /// The reason why a program could not be started.
    struct Failure: Error {
        var reason: String
    }

    /// The process ID. It may be reused once the program has exited.
    let process: pid_t
    private let endings: AsyncStream<Ending?>
    private let continuation: AsyncStream<Ending?>.Continuation

    /// The maximum number of programs that are waited for at a time, since each needs a thread.
    private static let maximum = 256
    private static let count = Atomic(0)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the program.
    ///   - words: The arguments; the first is the program's name.
    ///   - folder: The working directory.
    init(_ path: String, _ words: [String], folder: String, environment: [String: String]) throws(Failure) {
        guard Self.count.add(1, ordering: .relaxed).newValue <= Self.maximum else {
            Self.count.subtract(1, ordering: .relaxed)
            throw Failure(reason: "\(Self.maximum) started programs still run, which is the limit")
        }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        var number: Int32 = 0
        let code = csystem_start_program(path, &arguments, &variables, folder, &number)
        guard code == 0 else {
            Self.count.subtract(1, ordering: .relaxed)
            throw Failure(reason: String(cString: strerror(code)))
        }
        (endings, continuation) = AsyncStream.makeStream(of: Ending?.self)
        process = number
        let wait = { @Sendable [continuation, number] in
            var status: Int32 = 0
            while waitpid(number, &status, 0) < 0, errno == EINTR {}
            Self.count.subtract(1, ordering: .relaxed)
            let signal = status & 0x7F
            continuation.yield(signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal))
            continuation.finish()
        }
        if OwnThread.start("app-end", wait) != 0 { wait() }
    }

    /// Returns how the program ended; `nil` if it is still running after the time limit. May be
    /// called once.
    func end(within limit: Duration, _ clock: any Clock<Duration>) async -> Ending? {
        let timer = Task { [continuation] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            continuation.yield(nil)
        }
        defer { timer.cancel() }
        for await ending in endings { return ending }
        return nil
    }
}
