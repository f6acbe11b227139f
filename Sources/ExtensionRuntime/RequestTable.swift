// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol
import Synchronization

/// What an extension answered to a request.
enum RequestOutcome: Sendable {
    /// A reindex is done, and durable.
    case acknowledged
    /// The bytes of a promise.
    case data([UInt8])
    /// The file of a promise.
    case file(FileReply)
    /// A preview.
    case preview(contentType: String, title: String?, content: [UInt8])
    /// It went wrong.
    case failed(ExtensionStatus, String)
}

/// The requests an extension has not answered yet, by number.
///
/// Numbers are never used again, so an answer that comes twice or too late finds nothing and does no harm.
final class RequestTable: Sendable {
    typealias Handler = @Sendable (RequestOutcome) -> Void
    private struct State {
        var next: UInt64 = 1
        var pending: [UInt64: Handler] = [:]
    }
    private let state = Mutex(State())

    /// Opens a request; the handler is called once with its outcome, on whatever thread answers.
    func open(_ handler: @escaping Handler) -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            state.pending[state.next] = handler
            return state.next
        }
    }

    /// Answers a request; `false` if it was answered before or never existed.
    func finish(_ request: UInt64, _ outcome: RequestOutcome) -> Bool {
        guard let handler = state.withLock({ $0.pending.removeValue(forKey: request) }) else { return false }
        handler(outcome)
        return true
    }

    /// Whether somebody still waits for the answer.
    func isPending(_ request: UInt64) -> Bool { state.withLock { $0.pending[request] != nil } }
}
