// SPDX-License-Identifier: Apache-2.0

/// What is taken from those who send over a message bus. More is refused, and nobody else notices: the connection is
/// that of all of them. The bus itself is trusted, it hands on whole messages of at most 128 MiB.
public struct SenderLimits: Hashable, Sendable {
    /// The most bytes of the arguments of one message. A batch of 32 MiB fits.
    public var maximumMessageBytes = 33 << 20
    /// The most calls of one sender that wait for an answer.
    public var maximumUnanswered = 128
    /// The most bytes of these: one largest message, or some that are smaller.
    public var maximumUnansweredBytes = 34 << 20
    /// The most bytes of the calls of all senders that wait for an answer.
    public var maximumTotalBytes = 40 << 20
    /// A sender whose calls that wait have no more bytes than this is refused none of them for what others have sent.
    public var smallBytes = 256 << 10

    /// The limits the service sets.
    public init() {}
}

/// How much of what waits for an answer is whose.
struct SenderShares {
    private struct Share {
        var calls = 0
        var bytes = 0
    }
    private let limits: SenderLimits
    private var shares: [String: Share] = [:]
    private var total = 0

    init(_ limits: SenderLimits) { self.limits = limits }

    /// How many senders have calls that wait.
    var senders: Int { shares.count }

    /// Notes a call.
    ///
    /// - Returns: Why it has to be refused; it is noted all the same, until it is answered.
    mutating func take(_ bytes: Int, of sender: String) -> String? {
        var share = shares[sender] ?? Share()
        share.calls += 1
        share.bytes += bytes
        shares[sender] = share
        total += bytes
        if bytes > limits.maximumMessageBytes {
            return """
                The message has about \(bytes) bytes, and \(limits.maximumMessageBytes) are allowed. Send less at once.
                """
        }
        if share.calls > limits.maximumUnanswered {
            return "\(limits.maximumUnanswered) calls of this client wait for an answer. Wait for one of them."
        }
        if share.bytes > limits.maximumUnansweredBytes {
            return """
                The calls of this client that wait for an answer have more than \(limits.maximumUnansweredBytes) bytes. \
                Wait for one of them.
                """
        }
        guard total <= limits.maximumTotalBytes || share.bytes <= limits.smallBytes else {
            return """
                The calls of all clients that wait have more than \(limits.maximumTotalBytes) bytes. Try again later.
                """
        }
        return nil
    }

    /// Forgets a call that is answered.
    mutating func give(_ bytes: Int, of sender: String) {
        guard var share = shares[sender] else { return }
        share.calls -= 1
        share.bytes -= bytes
        total -= bytes
        shares[sender] = share.calls > 0 ? share : nil
    }
}
