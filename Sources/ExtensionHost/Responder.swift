// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// Whoever can answer what is asked about the items of a bundle: a worker with its extension, or its app.
protocol Responder: Sendable {
    /// Asks, and waits for the answer for as long as the limits of the request allow. A reindex is answered once all that
    /// the responder donated before its acknowledgement has been kept.
    func perform(_ request: WorkerRequest) async throws(ExtensionError) -> [BusValue]
}

extension ExtensionError {
    /// Whether this is no answer of a delegate, so that the next responder is asked.
    var isLeftToOthers: Bool {
        switch self {
        case .delegateUnavailable, .failed(_, _, .unsupported, _): true
        default: false
        }
    }
}
