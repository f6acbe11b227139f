// SPDX-License-Identifier: Apache-2.0

/// Parses a peer's byte stream. It determines how far the next read may go, which messages are
/// complete, and whether a limit is exceeded. A read never crosses the end of a message, because
/// descriptors belong to the message with which they arrived.
struct FrameTracker {
    private let limits: BusLimits
    private var authentication: AuthenticationTracker
    /// The bytes of the current message's header so far.
    private var header: [UInt8] = []
    private var prefix: MessagePrefix?
    /// The number of bytes of the current message so far.
    private var seen = 0
    /// The number of descriptors of the current message so far.
    private var descriptors = 0
    private(set) var completed: UInt64 = 0

    /// Creates a tracker.
    ///
    /// - Parameter sender: The side that sends the bytes.
    init(sender: BusConnection.Side, limits: BusLimits) {
        self.limits = limits
        authentication = AuthenticationTracker(sender: sender, maximum: limits.maximumAuthenticationBytes)
    }

    /// `true` until the authentication is complete.
    var isAuthenticating: Bool { !authentication.isFinished }

    /// `true` if the authentication or a message is incomplete.
    var isHalfSent: Bool { isAuthenticating || seen > 0 }

    /// `true` if the bytes read so far may be passed to sd-bus: bytes of the authentication, and
    /// bytes of a message whose complete header has passed the checks.
    var mayForward: Bool { isAuthenticating || seen == 0 || prefix.map { seen >= $0.headerBytes } ?? false }

    /// The size, serial number and kind of the current message; `nil` unless its header is complete
    /// and its body is not.
    var current: (bytes: Int, serial: UInt32, isCall: Bool)? {
        guard let prefix, seen > 0, header.count == prefix.headerBytes else { return nil }
        return (prefix.totalBytes, MessagePrefix.number(header, at: 8, prefix.isBigEndian), prefix.kind == .call)
    }

    /// The maximum size of the next read, at least 1.
    var wanted: Int {
        if isAuthenticating { return authentication.wanted }
        return (prefix?.totalBytes ?? MessagePrefix.size) - seen
    }

    /// Processes the bytes of a read, at most ``wanted``, and the number of descriptors that
    /// arrived with them.
    mutating func take(_ bytes: Span<UInt8>, descriptors count: Int) throws(BusEnd) {
        guard bytes.count > 0 else { return }
        if isAuthenticating {
            guard count == 0 else { throw .malformed("descriptors came with its authentication") }
            for index in bytes.indices { try authentication.take(bytes[index]) }
            return
        }
        descriptors += count
        guard descriptors <= limits.maximumDescriptors else {
            throw .violated("a message with more than \(limits.maximumDescriptors) descriptors")
        }
        let before = seen
        seen += bytes.count
        // Most bytes after the header belong to the body, which is not parsed.
        guard before < prefix?.headerBytes ?? MessagePrefix.size else {
            guard count == 0 else { throw .malformed("descriptors came in the middle of a message") }
            return finishIfComplete()
        }
        for index in bytes.indices {
            if let prefix, header.count == prefix.headerBytes { break }
            header.append(bytes[index])
            if header.count == MessagePrefix.size { prefix = try MessagePrefix(header, limits: limits) }
        }
        if let prefix, header.count == prefix.headerBytes {
            try MessageHeader.check(header, prefix, descriptors: descriptors)
        }
        finishIfComplete()
    }

    private mutating func finishIfComplete() {
        guard seen == prefix?.totalBytes else { return }
        completed += 1
        seen = 0
        descriptors = 0
        prefix = nil
        header.removeAll(keepingCapacity: true)
    }
}

/// The first 16 bytes of a message (D-Bus specification, Message Format).
struct MessagePrefix: Hashable {
    static let size = 16
    /// The kind of a message.
    enum Kind: UInt8 {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    let kind: Kind
    let isBigEndian: Bool
    /// The size of the header fields, without the padding that follows.
    let fieldBytes: Int
    let bodyBytes: Int

    /// The size of everything that precedes the body.
    var headerBytes: Int { Self.size + (fieldBytes + 7) & ~7 }
    var totalBytes: Int { headerBytes + bodyBytes }

    /// Parses a prefix.
    ///
    /// - Parameter bytes: 16 bytes.
    init(_ bytes: [UInt8], limits: BusLimits) throws(BusEnd) {
        switch bytes[0] {
        case UInt8(ascii: "l"): isBigEndian = false
        case UInt8(ascii: "B"): isBigEndian = true
        default: throw .malformed("a message of unknown byte order")
        }
        guard let kind = Kind(rawValue: bytes[1]) else { throw .malformed("a message of unknown kind \(bytes[1])") }
        self.kind = kind
        guard bytes[3] == 1 else { throw .malformed("a message of protocol version \(bytes[3])") }
        bodyBytes = Int(Self.number(bytes, at: 4, isBigEndian))
        guard Self.number(bytes, at: 8, isBigEndian) != 0 else { throw .malformed("a message with serial number 0") }
        fieldBytes = Int(Self.number(bytes, at: 12, isBigEndian))
        guard fieldBytes <= limits.maximumHeaderBytes - Self.size else {
            throw .violated("a message header of more than \(limits.maximumHeaderBytes) bytes")
        }
        guard totalBytes <= limits.maximumMessageBytes else {
            throw .violated("a message of \(totalBytes) bytes; the limit is \(limits.maximumMessageBytes)")
        }
    }

    /// Reads a 32-bit number at an offset.
    static func number(_ bytes: [UInt8], at place: Int, _ isBigEndian: Bool) -> UInt32 {
        let parts = (0..<4).map { UInt32(bytes[place + $0]) << UInt32(8 * (isBigEndian ? 3 - $0 : $0)) }
        return parts.reduce(0, |)
    }
}
