// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CStart
import Glibc

/// A process that runs a command. The argument parser's own `main` is not used, because it prints
/// without ``Output``.
package enum CommandProgram {
    /// Parses the arguments, runs the command, and exits with the command's exit status.
    ///
    ///     Signals.prepare()
    ///     await CommandProgram.run(Searchlight.self)
    ///
    /// The caller must prepare the signals first, on the main thread, because other threads block
    /// them.
    ///
    /// - Parameter complain: Prints the parser's usage error.
    package static func run<Root: AsyncParsableCommand>(
        _ root: Root.Type, complain: @Sendable (String) -> Void = { Output.complain("\(text: $0)") }
    ) async {
        do {
            var command = try root.parseAsRoot()
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch let error as OutputError {
            exit(CommandSupport.end(error).rawValue)
        } catch {
            exit(end(error, of: root, complain: complain))
        }
    }

    /// Makes all threads use one malloc arena. Call it at the start of the program. A search reads
    /// several hundred pages of the index, and growing an arena for each thread takes a twentieth
    /// of its time. A reindex frees memory in other threads than the threads that allocated it, and
    /// each arena keeps its largest size. With an arena for each thread, the peak memory of a
    /// reindex was 50 % higher.
    package static func useOnePool() { cstart_use_one_pool() }

    /// Prints the parser's help or version to standard output, or its usage error.
    ///
    /// - Returns: The exit status.
    private static func end<Root: AsyncParsableCommand>(
        _ error: any Error, of root: Root.Type, complain: (String) -> Void
    ) -> Int32 {
        let status = root.exitCode(for: error)
        let message = root.fullMessage(for: error)
        guard !message.isEmpty else { return status.rawValue }
        guard status.isSuccess else {
            complain(message)
            return status.rawValue
        }
        do throws(OutputError) {
            try Output.line("\(text: message)")
            return status.rawValue
        } catch {
            return CommandSupport.end(error).rawValue
        }
    }

    /// Replaces this process with another program (execve(2)). The process ID, terminal, streams
    /// and signals are kept.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - arguments: All arguments, starting with the program's name.
    /// - Returns: The reason why the program could not be started.
    package static func replace(with program: String, arguments: [String]) -> String {
        Signals.withdraw()
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        execv(program, &pointers)
        let reason = String(cString: strerror(errno))
        pointers.forEach { free($0) }
        return reason
    }
}
