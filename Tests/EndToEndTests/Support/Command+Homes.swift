// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The exit status and the output of a command.
struct CommandOutcome: Equatable, CustomStringConvertible {
    var status: Int32
    var output: String
    var errors: String

    var description: String { "status \(status)\n--- output\n\(output)--- errors\n\(errors)" }

    /// Returns the outcome without details that differ between stores and runs: folders, durations
    /// and dates.
    func normalised(_ harness: Harness) -> CommandOutcome {
        func normalise(_ text: String) -> String {
            text.replacingOccurrences(of: harness.folder, with: "FOLDER")
                .replacing(/\ in \d+\.\d s\n/, with: " in TIME\n")
                .replacing(/"seconds" : [\d.]+/, with: "\"seconds\" : TIME")
                .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "DATE")
        }
        return CommandOutcome(status: status, output: normalise(output), errors: normalise(errors))
    }

    /// The outcome without repeated error lines and without the number of lines left out.
    var withoutRepetitions: CommandOutcome {
        var lines: [Substring] = []
        for line in errors.split(separator: "\n", omittingEmptySubsequences: false)
        where line != lines.last && !line.hasPrefix("  … and ") { lines.append(line) }
        return CommandOutcome(status: status, output: output, errors: lines.joined(separator: "\n"))
    }
}

extension Command {
    /// Runs the command on its own thread, so that the tasks of a service in this process can run
    /// concurrently.
    func outcome(_ arguments: [String], input: String = "") async throws -> CommandOutcome {
        let (program, environment, folder) = (
            try BuiltProducts.program("searchlight"), try environment, harness.folder
        )
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let errors = folder + "/errors-\(UUID().uuidString)"
                        let (status, output) = try CFixture.run(
                            "/bin/sh", ["-c", #""$0" "$@" 2>"$ERRORS""#, program] + arguments,
                            environment: environment.merging(["ERRORS": errors]) { $1 }, input: input)
                        let text = try String(contentsOfFile: errors, encoding: .utf8)
                        try FileManager.default.removeItem(atPath: errors)
                        return CommandOutcome(status: status, output: output, errors: text)
                    })
            }
        }
    }

    /// The command that does all work in its own process, even if a service runs.
    var inProcess: Command {
        var command = self
        command.variables["SEARCHLIGHT_IN_PROCESS"] = "1"
        return command
    }
}
