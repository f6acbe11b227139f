// SPDX-License-Identifier: Apache-2.0

/// What a connection takes from a peer that is not trusted. One that goes beyond is disconnected, with the limit in the
/// reason (``BusEnd/violated(_:)``).
public struct BusLimits: Hashable, Sendable {
    /// The most bytes of one message, header included. A batch of 32 MiB fits.
    public var maximumMessageBytes = 33 << 20
    /// The most bytes of a message's header; one of this protocol has fewer than 300.
    public var maximumHeaderBytes = 16 << 10
    /// The most bytes of the authentication; sd-bus sends about 60.
    public var maximumAuthenticationBytes = 16 << 10
    /// The most file descriptors of one message, at most 16. Messages of this protocol have one; those of a call stay open
    /// until it is answered.
    public var maximumDescriptors = 2
    /// How long one message, or the authentication, may take from its first byte to its last, in microseconds.
    public var stallTimeout: UInt64 = 30_000_000
    /// The most bytes that wait to be sent to a peer that does not read.
    public var maximumUnsentBytes = 64 << 20
    /// The most messages that wait to be sent to such a peer.
    public var maximumUnsentMessages = 16_384
    /// How many bytes of calls may wait for their answers before no further message is read: a peer that sends faster
    /// than it is served has to wait, and is not disconnected for it.
    public var maximumUnansweredBytes = 64 << 20

    /// The limits the service sets its clients.
    public init() {}
}
