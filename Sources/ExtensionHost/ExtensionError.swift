// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol

/// Why an extension could not do what it was asked.
public enum ExtensionError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// There is no extension with this identifier.
    case notFound(identifier: String, searchPath: [String], known: [String])
    /// Its bundle is there and unusable.
    case refused(path: String, problem: BundleProblem)
    /// No worker could be started.
    case workerUnavailable(reason: String)
    /// The worker could not load it.
    case cannotLoad(identifier: String, failure: LoadFailure, message: String)
    /// Its worker ended while it was asked something.
    case crashed(identifier: String, during: String, exit: WorkerExit, lastOutput: [String])
    /// It did not answer in time; its worker was ended.
    case timedOut(identifier: String, during: String, limit: Duration)
    /// Its app, which is asked instead of it, is gone, does not answer or cannot be understood, and there is no extension.
    case delegateUnavailable(identifier: String, during: String, reason: String)
    /// It answered that it could not.
    case failed(identifier: String, during: String, status: ExtensionStatus, message: String)
    /// It answered what makes no sense.
    case malformedAnswer(identifier: String, during: String, reason: String)
    /// Nobody waits for the answer any more.
    case cancelled

    /// The error: what was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .notFound(let identifier, let searchPath, let known):
            """
            There is no extension \(identifier). Searched: \(searchPath.joined(separator: ", ")). \
            \(known.isEmpty ? "No extension was found there." : "Found there: \(known.joined(separator: ", ")).")
            """
        case .refused(let path, let problem): "The extension at \(path) is not used. \(problem.description)"
        case .workerUnavailable(let reason): "No worker could be started: \(reason)"
        case .cannotLoad(let identifier, _, let message): "\(identifier) could not be loaded. \(message)"
        case .crashed(let identifier, let during, let exit, let lastOutput):
            "\(identifier) \(exit.description) while it was asked to \(during)."
                + (lastOutput.isEmpty
                    ? "" : " It last said:\n" + lastOutput.map { "  | " + $0 }.joined(separator: "\n"))
        case .timedOut(let identifier, let during, let limit):
            "\(identifier) was asked to \(during) and did not answer or make progress within \(limit); it was stopped."
        case .delegateUnavailable(let identifier, let during, let reason):
            "The app \(identifier) was asked to \(during) and could not be: \(reason)."
        case .failed(let identifier, let during, .unsupported, ""):
            "\(identifier) does not serve requests to \(during)."
        case .failed(let identifier, let during, let status, let message):
            "\(identifier) could not \(during): \(message)\(status == .unsupported ? " (unsupported)" : "")"
        case .malformedAnswer(let identifier, let during, let reason):
            "\(identifier) gave an answer that makes no sense when asked to \(during): \(reason)"
        case .cancelled: "The request was cancelled."
        }
    }
}

/// How a worker ended.
public enum WorkerExit: Hashable, Sendable, Codable, CustomStringConvertible {
    /// By `exit`, with a status.
    case exited(Int32)
    /// By a signal.
    case signalled(Int32)
    /// By the host, because it had closed its connection and went on.
    case endedByHost

    /// What the worker did, as the rest of a sentence.
    public var description: String {
        switch self {
        case .exited(let status): "ended its worker with exit status \(status)"
        case .endedByHost: "broke or closed its connection and had to be ended"
        case .signalled(let number): "crashed (signal \(number), \(Self.name(of: number)))"
        }
    }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            4: "illegal instruction", 5: "trap", 6: "abort", 7: "bus error", 8: "arithmetic error", 9: "killed",
            11: "segmentation fault", 15: "terminated", 24: "CPU time exceeded", 25: "file size exceeded",
            31: "forbidden system call",
        ]
        return names[signal] ?? "unnamed"
    }
}
