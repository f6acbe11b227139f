// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// The address in a worker's `connect` call, in a copy that the worker cannot change.
struct NetworkTarget: Sendable {
    /// The address in the kernel's form (`sockaddr`).
    let bytes: [UInt8]

    /// The maximum size of an address, in bytes. An IPv6 address has 28.
    static let maximumBytes = 128
    /// The system's list of name servers.
    static let resolverSettings = "/etc/resolv.conf"

    /// The decision about a `connect` call.
    enum Verdict: Equatable, Sendable {
        case allowed
        /// The address belongs to this machine, on which the service and other programs' servers
        /// listen.
        case thisMachine
        /// The address family is not allowed.
        case otherFamily
        /// There is no route to the address. The error is the kernel's.
        case unreachable(error: Int32)
    }

    private var family: Int32 { bytes.count >= 2 ? Int32(bytes[0]) | Int32(bytes[1]) << 8 : -1 }
    private var port: Int { bytes.count >= 4 ? Int(bytes[2]) << 8 | Int(bytes[3]) : 0 }
    /// The four bytes of an IPv4 address, or of an IPv4-mapped IPv6 address.
    private var four: ArraySlice<UInt8>? {
        if family == AF_INET { return bytes.count >= 8 ? bytes[4..<8] : nil }
        guard let six else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return Array(six.prefix(12)) == mapped ? six.suffix(4) : nil
    }
    private var six: ArraySlice<UInt8>? { family == AF_INET6 && bytes.count >= 28 ? bytes[8..<24] : nil }

    /// The kernel's route to an address.
    enum Way: Equatable, Sendable {
        /// The route leads to another machine.
        case away
        /// The route leads to this machine or to all machines, or is unknown.
        case here
        /// There is no route, for this reason (an `errno`).
        case none(error: Int32)

        /// Converts the result of a kernel query.
        ///
        /// - Parameter kind: `RTN_…` from `<linux/rtnetlink.h>`, or the negative `errno` of a
        ///   failed query.
        init(kind: Int32) {
            switch kind {
            case 1: self = .away  // RTN_UNICAST
            case 7, -EHOSTUNREACH: self = .none(error: EHOSTUNREACH)  // RTN_UNREACHABLE
            case -ENETUNREACH, -EACCES, -EINVAL: self = .none(error: -kind)
            default: self = .here
            }
        }
    }

    /// Allows or denies the address.
    ///
    /// - Parameters:
    ///   - way: Returns the kernel's route to an address.
    ///   - nameServers: Returns the addresses of the system's name servers.
    func verdict(way: ([UInt8]) -> Way, nameServers: () -> [[UInt8]]) -> Verdict {
        // AF_UNSPEC dissolves an association.
        if family == AF_UNSPEC { return .allowed }
        let found: Way
        if let four, let first = four.first {
            // 127/8; and 0/8, which also stands for this machine.
            found = first == 127 || first == 0 ? .here : way(Self.address(four))
        } else if let six {
            // ::1, ::, and IPv4-compatible addresses (deprecated).
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

    /// Returns an IPv4 address, including an IPv4-mapped address, in the kernel's form.
    private static func address(_ four: ArraySlice<UInt8>) -> [UInt8] {
        var family = UInt16(AF_INET)
        let head = withUnsafeBytes(of: &family) { Array($0) }
        return head + [0, 0] + four + [UInt8](repeating: 0, count: 8)
    }

    /// Allows or denies the address, based on the kernel's routes and the system's settings.
    func verdict() -> Verdict {
        verdict { bytes in
            Way(kind: csandbox_kind_of_way(bytes, UInt32(bytes.count)))
        } nameServers: {
            Self.nameServers(in: Array((SmallFile.text(at: Self.resolverSettings, limit: 64 << 10) ?? "").utf8))
        }
    }

    /// Returns the addresses in `nameserver ADDRESS` lines.
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
