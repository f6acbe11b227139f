// SPDX-License-Identifier: Apache-2.0

/// The limits of a connection to an untrusted peer. A peer that exceeds one is disconnected, with
/// the limit in the reason (``BusEnd/violated(_:)``).
public struct BusLimits: Hashable, Sendable {
    /// The maximum size of a message in bytes, including its header. A batch of 32 MiB fits.
    public var maximumMessageBytes = 33 << 20
    /// The maximum size of a message header in bytes. This protocol's headers are smaller than 300
    /// bytes.
    public var maximumHeaderBytes = 16 << 10
    /// The maximum size of the authentication in bytes; sd-bus sends about 60.
    public var maximumAuthenticationBytes = 16 << 10
    /// The maximum number of file descriptors in a message, at most 16. This protocol's messages
    /// have one. A call's descriptors stay open until it is answered.
    public var maximumDescriptors = 2
    /// The maximum time between the first and the last byte of a message or the authentication, in
    /// microseconds.
    public var stallTimeout: UInt64 = 30_000_000
    /// The maximum number of bytes that wait to be sent to a peer that does not read.
    public var maximumUnsentBytes = 64 << 20
    /// The maximum number of messages that wait to be sent to a peer that does not read.
    public var maximumUnsentMessages = 16_384
    /// The number of bytes in unanswered calls above which no further message is read. A peer that
    /// sends faster than it is served is not disconnected; it has to wait.
    public var maximumUnansweredBytes = 64 << 20

    /// Creates the limits that the service sets for its clients.
    public init() {}
}
