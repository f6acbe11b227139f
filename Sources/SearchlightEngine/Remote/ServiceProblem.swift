// SPDX-License-Identifier: Apache-2.0

/// A failed request to the service, or a malformed answer.
package enum ServiceProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The socket exists and rejects the connection.
    case cannotConnect(path: String, reason: String)
    /// The service did not answer within the time limit.
    case notAnswering(path: String, seconds: Int)
    /// The protocol versions differ. The reason is the service's message.
    case otherVersion(reason: String)
    /// The service rejected the request.
    case refused(during: String, reason: String)
    /// The connection ended before the answer.
    case ended(during: String)
    /// The answer is malformed.
    case malformedAnswer(during: String, reason: String)
    /// The request is larger than the limit.
    case requestTooLarge(during: String, bytes: Int, limit: Int)
    /// The answer is larger than the limit.
    case answerTooLarge(during: String, limit: Int)

    /// A message with the attempt, the problem and advice.
    package var description: String {
        switch self {
        case .cannotConnect(let path, let reason):
            """
            The service at \(path) cannot be connected to: \(reason). A store belongs to one user: check who owns its \
            folder, or name another with --store.
            """
        case .notAnswering(let path, let seconds):
            """
            The service at \(path) did not answer within \(seconds) s. It may be waiting for a store that another program has, \
            or mending one after a crash, which takes minutes: wait and try again. What it does says: systemctl --user \
            status searchlightd
            """
        case .otherVersion(let reason): reason
        case .refused(let during, let reason): "The service refused to \(during): \(reason)"
        case .ended(let during):
            """
            The service ended before it answered the request to \(during), which it may have carried out. Run the \
            command again.
            """
        case .malformedAnswer(let during, let reason):
            """
            The service gave an answer that makes no sense when asked to \(during): \(reason). Install the command and \
            the service from the same release, and restart the service.
            """
        case .requestTooLarge(let during, let bytes, let limit):
            "The request to \(during) has \(bytes) bytes, and the service takes at most \(limit). Ask for less at a time."
        case .answerTooLarge(let during, let limit):
            """
            The answer to the request to \(during) has more than \(limit) bytes, which the service does not send. Ask \
            for less, or stop the service and run the command with --in-process.
            """
        }
    }
}
