// SPDX-License-Identifier: Apache-2.0

/// Why the service could not be asked, or answered what makes no sense.
package enum ServiceProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// Its socket is there and cannot be connected to.
    case cannotConnect(path: String, reason: String)
    /// It said nothing for so many seconds.
    case notAnswering(path: String, seconds: Int)
    /// It speaks another version of the protocol; it or this program says which.
    case otherVersion(reason: String)
    /// It refused what was asked.
    case refused(during: String, reason: String)
    /// The connection to it ended before it answered.
    case ended(during: String)
    /// What it answered cannot be understood.
    case malformedAnswer(during: String, reason: String)
    /// More was asked than one request takes.
    case requestTooLarge(during: String, bytes: Int, limit: Int)
    /// The answer is larger than what is sent.
    case answerTooLarge(during: String, limit: Int)

    /// The problem: what was attempted, what happened, what to do.
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
