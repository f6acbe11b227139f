// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceMessages

/// An error of a request to an extension.
public enum ExtensionError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// No extension has this identifier.
    case notFound(identifier: String, searchPath: [String], known: [String])
    /// The extension's bundle exists but is unusable.
    case refused(path: String, problem: BundleProblem)
    /// No worker could be started.
    case workerUnavailable(reason: String)
    /// The worker could not load the extension's library.
    case cannotLoad(identifier: String, failure: LoadFailure, message: String)
    /// The worker exited during the request.
    case crashed(identifier: String, during: String, exit: WorkerExit, lastOutput: [String])
    /// The extension exceeded the time limit, and its worker was terminated.
    case timedOut(identifier: String, during: String, limit: Duration)
    /// The delegate app disconnected, did not reply, or sent an invalid reply, and the bundle has
    /// no extension.
    case delegateUnavailable(identifier: String, during: String, reason: String)
    /// The extension replied with a failure status.
    case failed(identifier: String, during: String, status: ExtensionStatus, message: String)
    /// The extension sent an invalid reply.
    case malformedAnswer(identifier: String, during: String, reason: String)
    /// The worker exceeded its memory limit, in bytes, and exited.
    case memoryExceeded(identifier: String, during: String, limit: UInt64, lastOutput: [String])
    /// The user has disabled the extension.
    case disabled(identifier: String)
    /// The extension crashed too often. It receives no requests until it changes or the user
    /// releases it.
    case quarantined(identifier: String, ExtensionHealth.Quarantine)
    /// The extension failed and receives no requests until the back-off ends. `last` describes the
    /// last failure, as the end of a sentence.
    case backingOff(identifier: String, ExtensionHealth.BackOff, last: String?)
    /// The caller no longer waits for the reply.
    case cancelled

    /// The error message: the attempt, the failure, and the remedy.
    public var description: String {
        switch self {
        case .notFound(let identifier, let searchPath, let known):
            """
            There is no extension \(identifier). \
            \(SpellingSuggestions.sentence(to: identifier, among: known).map { $0 + " " } ?? "")\
            Searched: \(searchPath.joined(separator: ", ")). \
            \(known.isEmpty ? "No extension was found there." : "Found there: \(known.joined(separator: ", ")).")
            """
        case .refused(let path, let problem): "The extension at \(path) is not used. \(problem.description)"
        case .workerUnavailable(let reason): "No worker could be started: \(reason)"
        case .cannotLoad(let identifier, _, let message): "\(identifier) could not be loaded. \(message)"
        case .crashed(let identifier, let during, let exit, let lastOutput):
            "\(identifier) \(exit.description) during the request to \(during)." + Self.quote(lastOutput)
        case .timedOut(let identifier, let during, let limit):
            "\(identifier) did not answer or make progress within \(limit) during the request to \(during), and was stopped."
        case .delegateUnavailable(let identifier, let during, let reason):
            "The app \(identifier) could not \(during): \(reason)."
        case .failed(let identifier, let during, .unsupported, ""):
            "\(identifier) does not serve requests to \(during)."
        case .failed(let identifier, let during, let status, let message):
            "\(identifier) could not \(during): \(message)\(status == .unsupported ? " (unsupported)" : "")"
        case .malformedAnswer(let identifier, let during, let reason):
            "\(identifier) sent an invalid answer to the request to \(during): \(reason)"
        case .memoryExceeded(let identifier, let during, let limit, let lastOutput):
            """
            \(identifier) exceeded its memory limit of \(limit >> 20) MiB during the request to \(during). Reduce its memory \
            use, or raise Searchlight.MemoryLimit in its Info.plist.
            """ + Self.quote(lastOutput)
        case .disabled(let identifier):
            "\(identifier) is disabled. To enable it, run “searchlight extensions enable \(identifier)”."
        case .quarantined(let identifier, let quarantine):
            """
            \(identifier) is in quarantine since \(Self.text(quarantine.since)): it \
            \(quarantine.reason). It is retried after an update of the extension or of Searchlight. \
            To retry it now, run “searchlight extensions release \(identifier)”.
            """ + Self.quote(quarantine.evidence.lastOutput)
        case .backingOff(let identifier, let backOff, let last):
            """
            \(identifier) failed \(backOff.failures) \(backOff.failures == 1 ? "time" : "times in a row") and gets no requests \
            until \(Self.text(backOff.until))\(last.map { "; the last time it \($0)" } ?? ""). \
            To retry it now, run “searchlight reindex \(identifier)”.
            """
        case .cancelled: "The request was cancelled."
        }
    }

    /// `true` for a request that was lost because another request of the same worker failed.
    package var isConsequence: Bool {
        if case .crashed(_, _, .endedAfter, _) = self { true } else { false }
    }

    /// The user's next step after a fault in the extension's code, or `nil` if `description`
    /// already contains one.
    public var advice: String? {
        switch self {
        case .crashed(let identifier, _, _, _), .timedOut(let identifier, _, _), .malformedAnswer(let identifier, _, _):
            "To find the cause, run “searchlight extensions validate \(identifier)”."
        default: nil
        }
    }

    private static func quote(_ lines: [String]) -> String {
        lines.isEmpty ? "" : " Its last output:\n" + lines.map { "  | " + $0 }.joined(separator: "\n")
    }

    private static func text(_ moment: Double) -> String {
        // A time that was read from a file may be any number. The calendar only formats times
        // within about ten thousand years.
        guard abs(moment) < 3e11 else { return "an unknown moment" }
        return Date(timeIntervalSinceReferenceDate: moment).ISO8601Format()
    }
}

extension ExtensionError {
    /// Returns the error for a worker that could not start because a system call failed. The
    /// message names the process limit that may be the cause.
    static func workerUnavailable(failing operation: String, code: Int32) -> ExtensionError {
        let hint =
            switch code {
            case EMFILE: " This process reached its limit of open files. Raise it with ulimit -n."
            case EAGAIN: " The limit of processes and threads is reached. Raise it with ulimit -u, or end some."
            case ENOMEM: " The memory limit is reached. Raise it with ulimit -v and ulimit -d."
            default: ""
            }
        return .workerUnavailable(reason: "\(operation) failed: \(String(cString: strerror(code))).\(hint)")
    }

    /// Returns the error for a worker that exited before it loaded the extension. The reason is the
    /// worker program's output, for example that a limit is too small.
    static func workerUnavailable(saying lines: [String]) -> ExtensionError {
        let program = "searchlight-worker: "
        let words = lines.map { $0.hasPrefix(program) ? String($0.dropFirst(program.count)) : $0 }
        return .workerUnavailable(
            reason: words.isEmpty ? "its program ended at once." : words.joined(separator: " "))
    }

    /// A reply without the words and the output of the extension or app, for a request about
    /// encrypted items. Not for the host's own errors, whose messages name no item.
    var withoutWords: ExtensionError {
        switch self {
        case .failed(let identifier, let during, let status, let message)
        where !message.isEmpty && message != EncryptedItems.noDelegate:
            .failed(
                identifier: identifier, during: during, status: status,
                message: "it gave a reason, which is not recorded because the items are encrypted")
        case .crashed(let identifier, let during, let exit, _):
            .crashed(identifier: identifier, during: during, exit: exit, lastOutput: [])
        case .memoryExceeded(let identifier, let during, let limit, _):
            .memoryExceeded(identifier: identifier, during: during, limit: limit, lastOutput: [])
        default: self
        }
    }

    /// The purpose of the failed request, or `nil` if the error is not about a request.
    var during: String? {
        switch self {
        case .crashed(_, let during, _, _), .timedOut(_, let during, _), .memoryExceeded(_, let during, _, _),
            .failed(_, let during, _, _), .malformedAnswer(_, let during, _), .delegateUnavailable(_, let during, _):
            during
        default: nil
        }
    }

    var exit: WorkerExit? { if case .crashed(_, _, let exit, _) = self { exit } else { nil } }

    var lastOutput: [String] {
        switch self {
        case .crashed(_, _, _, let lines), .memoryExceeded(_, _, _, let lines): lines
        default: []
        }
    }

    /// `true` if the request was rejected without being sent, because the extension is disabled,
    /// quarantined or backing off.
    public var isRefusal: Bool {
        switch self {
        case .disabled, .quarantined, .backingOff: true
        default: false
        }
    }
}
