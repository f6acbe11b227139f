// SPDX-License-Identifier: Apache-2.0

/// A failed request to the service, or a malformed reply.
package enum ServiceProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The socket exists but rejects the connection.
    case cannotConnect(path: String, reason: String)
    /// The service did not reply within the time limit.
    case notAnswering(path: String, seconds: Int)
    /// The protocol versions differ. The reason is the service's message.
    case otherVersion(reason: String)
    /// The service rejected the request.
    case refused(during: String, reason: String)
    /// The connection ended before the reply.
    case ended(during: String)
    /// The reply is malformed.
    case malformedAnswer(during: String, reason: String)
    /// The request is larger than the limit.
    case requestTooLarge(during: String, bytes: Int, limit: Int)
    /// The reply is larger than the limit.
    case answerTooLarge(during: String, limit: Int)

    /// A message with the attempt, the problem and advice.
    package var description: String {
        switch self {
        case .cannotConnect(let path, let reason):
            """
            Connecting to the service at \(path) failed: \(reason). Check the owner of the store's folder, or name another \
            store with --store.
            """
        case .notAnswering(let path, let seconds):
            """
            The service at \(path) did not answer within \(seconds) s. It may be waiting for a store in use, or repairing one \
            after a crash, which takes minutes. Wait and try again. To see its state: systemctl --user status searchlightd
            """
        case .otherVersion(let reason): reason
        case .refused(let during, let reason): "Refused to \(during): \(reason)"
        case .ended(let during):
            """
            The service ended before its answer to the request to \(during), which may have taken effect. Run the \
            command again.
            """
        case .malformedAnswer(let during, let reason):
            """
            The service sent an invalid answer to the request to \(during): \(reason). Install the command and \
            the service from the same release, and restart the service.
            """
        case .requestTooLarge(let during, let bytes, let limit):
            "The request to \(during) has \(bytes) bytes; the limit is \(limit). Split the request."
        case .answerTooLarge(let during, let limit):
            """
            The answer to the request to \(during) has more than \(limit) bytes, the limit of the service. Request \
            less, or stop the service and run the command with --in-process.
            """
        }
    }
}
