// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import ServiceProtocol

/// The address that a worker wants to connect to, in a copy of the host's that cannot change any more.
struct NetworkTarget: Sendable {
    /// As the kernel takes it.
    let bytes: [UInt8]

    /// The longest address that is looked at, in bytes; those of IPv6 have 28.
    static let maximumBytes = 128
    /// Where the system says which name servers it asks.
    static let resolverSettings = "/etc/resolv.conf"

    /// What may be done with it.
    enum Verdict: Equatable, Sendable {
        case allowed
        /// It is of this machine, where the page, the service and other programs' servers listen.
        case thisMachine
        /// It is of no family that a worker may use.
        case otherFamily
    }

    private var family: Int32 { bytes.count >= 2 ? Int32(bytes[0]) | Int32(bytes[1]) << 8 : -1 }
    private var port: Int { bytes.count >= 4 ? Int(bytes[2]) << 8 | Int(bytes[3]) : 0 }
    /// The four bytes of an address of IPv4, also of one inside of IPv6.
    private var four: ArraySlice<UInt8>? {
        if family == AF_INET { return bytes.count >= 8 ? bytes[4..<8] : nil }
        guard let six else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return Array(six.prefix(12)) == mapped ? six.suffix(4) : nil
    }
    private var six: ArraySlice<UInt8>? { family == AF_INET6 && bytes.count >= 28 ? bytes[8..<24] : nil }

    /// - Parameters:
    ///   - isThisMachine: Whether an address comes back to this machine, as the kernel's tables of ways say.
    ///   - nameServers: The addresses of the servers that the system asks for names.
    func verdict(isThisMachine: ([UInt8]) -> Bool, nameServers: () -> [[UInt8]]) -> Verdict {
        // AF_UNSPEC ends a connection.
        if family == AF_UNSPEC { return .allowed }
        guard four != nil || six != nil else { return .otherFamily }
        let isLocal: Bool
        if let four, let first = four.first {
            // 127/8, and 0/8, which means this machine too.
            isLocal = first == 127 || first == 0 || isThisMachine(bytes)
        } else if let six {
            // ::1, ::, and the addresses of IPv4 in an older form.
            isLocal = six.prefix(12).allSatisfy { $0 == 0 } || isThisMachine(bytes)
        } else {
            isLocal = true
        }
        guard isLocal else { return .allowed }
        let address = Array(four ?? six ?? [])
        return port == 53 && nameServers().contains(address) ? .allowed : .thisMachine
    }

    /// As the kernel and the system's settings say now.
    func verdict() -> Verdict {
        verdict { bytes in
            csandbox_is_this_machine(bytes, UInt32(bytes.count)) != 0
        } nameServers: {
            Self.nameServers(in: Array((SmallFile.text(at: Self.resolverSettings, limit: 64 << 10) ?? "").utf8))
        }
    }

    /// The addresses in the lines `nameserver ADDRESS`.
    static func nameServers(in settings: [UInt8]) -> [[UInt8]] {
        settings.split(whereSeparator: { $0 == UInt8(ascii: "\n") }).prefix(1000).compactMap { line in
            let words = line.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
            guard words.count >= 2, words[0].elementsEqual("nameserver".utf8) else { return nil }
            let text = String(decoding: words[1].prefix(64).prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
            var four = in_addr()
            if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
            var six = in6_addr()
            if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: six) { Array($0) } }
            return nil
        }
    }
}
