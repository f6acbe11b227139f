// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// An endpoint that handles requests about a bundle's items: a worker with the bundle's extension,
/// or the bundle's app.
protocol Responder: Sendable {
    /// Sends a request and waits for the reply within the request's time limit. A reindex returns
    /// once all donations that preceded the acknowledgement are stored.
    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue]
}

extension ExtensionError {
    /// `true` if the error is not a delegate's own reply, so that the next responder is asked.
    var isLeftToOthers: Bool {
        switch self {
        case .delegateUnavailable, .failed(_, _, .unsupported, _): true
        default: false
        }
    }
}
