// SPDX-License-Identifier: Apache-2.0

/// The limits for each sender on a message bus. Calls that exceed them are rejected without
/// affecting other senders, which share the connection. The bus itself is trusted: it delivers
/// complete messages of at most 128 MiB.
public struct SenderLimits: Hashable, Sendable {
    /// The maximum size of one message's arguments, in bytes. A batch of 32 MiB fits.
    public var maximumMessageBytes = 33 << 20
    /// The maximum number of unanswered calls from one sender.
    public var maximumUnanswered = 128
    /// The maximum total size of one sender's unanswered calls, in bytes: one message of the
    /// maximum size, or several smaller ones.
    public var maximumUnansweredBytes = 34 << 20
    /// The maximum total size of all senders' unanswered calls, in bytes.
    public var maximumTotalBytes = 40 << 20
    /// The maximum size, in bytes, of the unanswered calls of a sender that is exempt from the
    /// total limit.
    public var smallBytes = 256 << 10

    /// Creates the limits that the service uses.
    public init() {}
}

/// The unanswered calls of each sender.
struct SenderShares {
    private struct Share {
        var calls = 0
        var bytes = 0
    }
    private let limits: SenderLimits
    private var shares: [String: Share] = [:]
    private var total = 0

    init(_ limits: SenderLimits) { self.limits = limits }

    /// The number of senders with unanswered calls.
    var senders: Int { shares.count }

    /// Adds a call.
    ///
    /// - Returns: The reason to reject the call; `nil` to accept it. In either case it is counted
    ///   until it is answered.
    mutating func take(_ bytes: Int, of sender: String) -> String? {
        var share = shares[sender] ?? Share()
        share.calls += 1
        share.bytes += bytes
        shares[sender] = share
        total += bytes
        if bytes > limits.maximumMessageBytes {
            return """
                The message has about \(bytes) bytes; the limit is \(limits.maximumMessageBytes). Send less at a time.
                """
        }
        if share.calls > limits.maximumUnanswered {
            return
                "\(limits.maximumUnanswered) calls of this client are unanswered, which is the limit. Wait for an answer first."
        }
        if share.bytes > limits.maximumUnansweredBytes {
            return """
                The unanswered calls of this client have more than \(limits.maximumUnansweredBytes) bytes. \
                Wait for an answer first.
                """
        }
        guard total <= limits.maximumTotalBytes || share.bytes <= limits.smallBytes else {
            return """
                The unanswered calls of all clients have more than \(limits.maximumTotalBytes) bytes. Try again later.
                """
        }
        return nil
    }

    /// Removes an answered call.
    mutating func give(_ bytes: Int, of sender: String) {
        guard var share = shares[sender] else { return }
        share.calls -= 1
        share.bytes -= bytes
        total -= bytes
        shares[sender] = share.calls > 0 ? share : nil
    }
}
