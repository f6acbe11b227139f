// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

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
        /// There is no way to it; as the kernel would say.
        case unreachable(error: Int32)
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

    /// What the kernel's tables say of an address.
    enum Way: Equatable, Sendable {
        /// It leads to another machine.
        case away
        /// It comes back to this one, to all, or nobody knows.
        case here
        /// There is none, and why (an `errno`).
        case none(error: Int32)

        /// - Parameter kind: `RTN_…` of `<linux/rtnetlink.h>`, or the negative `errno` of a failed question.
        init(kind: Int32) {
            switch kind {
            case 1: self = .away  // RTN_UNICAST
            case 7, -EHOSTUNREACH: self = .none(error: EHOSTUNREACH)  // RTN_UNREACHABLE
            case -ENETUNREACH, -EACCES, -EINVAL: self = .none(error: -kind)
            default: self = .here
            }
        }
    }

    /// - Parameters:
    ///   - way: What the kernel's tables say of an address.
    ///   - nameServers: The addresses of the servers that the system asks for names.
    func verdict(way: ([UInt8]) -> Way, nameServers: () -> [[UInt8]]) -> Verdict {
        // AF_UNSPEC ends a connection.
        if family == AF_UNSPEC { return .allowed }
        let found: Way
        if let four, let first = four.first {
            // 127/8, and 0/8, which means this machine too.
            found = first == 127 || first == 0 ? .here : way(Self.address(four))
        } else if let six {
            // ::1, ::, and the addresses of IPv4 in an older form.
            found = six.prefix(12).allSatisfy { $0 == 0 } ? .here : way(bytes)
        } else {
            return .otherFamily
        }
        switch found {
        case .away: return .allowed
        case .none(let error): return .unreachable(error: error)
        case .here:
            let address = Array(four ?? six ?? [])
            return port == 53 && nameServers().contains(address) ? .allowed : .thisMachine
        }
    }

    /// An address of IPv4 as the kernel takes it, also for one that is written inside of IPv6.
    private static func address(_ four: ArraySlice<UInt8>) -> [UInt8] {
        var family = UInt16(AF_INET)
        let head = withUnsafeBytes(of: &family) { Array($0) }
        return head + [0, 0] + four + [UInt8](repeating: 0, count: 8)
    }

    /// As the kernel and the system's settings say now.
    func verdict() -> Verdict {
        verdict { bytes in
            Way(kind: csandbox_kind_of_way(bytes, UInt32(bytes.count)))
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
