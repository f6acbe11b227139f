// SPDX-License-Identifier: Apache-2.0

/// Follows the bytes that a peer sends, and says how far the next read may go, what is complete, and when a limit is
/// broken. It reads never across the end of a message, because descriptors belong to the message they came with.
struct FrameTracker {
    private let limits: BusLimits
    private var authentication: AuthenticationTracker
    /// The header of the current message, as far as it is there.
    private var header: [UInt8] = []
    private var prefix: MessagePrefix?
    /// How many bytes of the current message have been seen.
    private var seen = 0
    /// How many descriptors came with it.
    private var descriptors = 0
    private(set) var completed: UInt64 = 0

    /// - Parameter sender: Which side sends the bytes.
    init(sender: BusConnection.Side, limits: BusLimits) {
        self.limits = limits
        authentication = AuthenticationTracker(sender: sender, maximum: limits.maximumAuthenticationBytes)
    }

    /// Whether the authentication is still under way.
    var isAuthenticating: Bool { !authentication.isFinished }

    /// Whether something has begun that is not complete.
    var isHalfSent: Bool { isAuthenticating || seen > 0 }

    /// Whether sd-bus may have what was read: what is authentication, and of a message nothing before its whole header
    /// was found good.
    var mayForward: Bool { isAuthenticating || seen == 0 || prefix.map { seen >= $0.headerBytes } ?? false }

    /// The bytes and the serial number of the current message, and whether it is a call, once its header is there and not all
    /// of it.
    var current: (bytes: Int, serial: UInt32, isCall: Bool)? {
        guard let prefix, seen > 0, header.count == prefix.headerBytes else { return nil }
        return (prefix.totalBytes, MessagePrefix.number(header, at: 8, prefix.isBigEndian), prefix.kind == .call)
    }

    /// The most bytes the next read may take, at least 1.
    var wanted: Int {
        if isAuthenticating { return authentication.wanted }
        return (prefix?.totalBytes ?? MessagePrefix.size) - seen
    }

    /// Takes what was read, at most ``wanted`` bytes, and the number of descriptors that came along.
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
        // Most reads after the header are of bytes that nobody looks at here.
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

/// The 16 bytes every message begins with (D-Bus specification, Message Format).
struct MessagePrefix: Hashable {
    static let size = 16
    /// What a message is.
    enum Kind: UInt8 {
        case call = 1
        case answer = 2
        case error = 3
        case signal = 4
    }

    let kind: Kind
    let isBigEndian: Bool
    /// The bytes of the header's fields, without the padding that follows.
    let fieldBytes: Int
    let bodyBytes: Int

    /// The bytes before the body.
    var headerBytes: Int { Self.size + (fieldBytes + 7) & ~7 }
    var totalBytes: Int { headerBytes + bodyBytes }

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
            throw .violated("a message of \(totalBytes) bytes, where \(limits.maximumMessageBytes) are allowed")
        }
    }

    /// The 4-byte number at a place.
    static func number(_ bytes: [UInt8], at place: Int, _ isBigEndian: Bool) -> UInt32 {
        let parts = (0..<4).map { UInt32(bytes[place + $0]) << UInt32(8 * (isBigEndian ? 3 - $0 : $0)) }
        return parts.reduce(0, |)
    }
}
