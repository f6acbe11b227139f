// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// An endpoint that answers requests about the items of a bundle: a worker with its extension, or
/// the bundle's app.
protocol Responder: Sendable {
    /// Sends a request and waits for the answer within the request's time limit. A reindex returns
    /// once all donations from before the acknowledgement are stored.
    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue]
}

extension ExtensionError {
    /// `true` if the error is not a delegate's own answer, so that the next responder is asked.
    var isLeftToOthers: Bool {
        switch self {
        case .delegateUnavailable, .failed(_, _, .unsupported, _): true
        default: false
        }
    }
}
