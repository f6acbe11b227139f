// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Foundation
import Glibc
import Testing

@testable import ExtensionHost

@Suite("Network addresses of a worker")
struct NetworkTargetTests {
    /// Returns an address in the kernel's format.
    static func address(_ text: String, port: UInt16 = 443) -> NetworkTarget {
        var four = in_addr()
        let ports: [UInt8] = [UInt8(port >> 8), UInt8(port & 0xFF)]
        if inet_pton(AF_INET, text, &four) == 1 {
            return NetworkTarget(
                bytes: [UInt8(AF_INET), 0] + ports + withUnsafeBytes(of: four) { Array($0) }
                    + [UInt8](repeating: 0, count: 8))
        }
        var six = in6_addr()
        inet_pton(AF_INET6, text, &six)
        return NetworkTarget(
            bytes: [UInt8(AF_INET6), 0] + ports + [0, 0, 0, 0] + withUnsafeBytes(of: six) { Array($0) } + [0, 0, 0, 0])
    }

    @Test(
        "are never this machine, with any address",
        arguments: [
            "127.0.0.1", "127.1.2.3", "127.255.255.255", "0.0.0.0", "0.1.2.3", "::1", "::", "::ffff:127.0.0.1",
            "::ffff:0.0.0.0", "::127.0.0.1", "::2", "192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7",
        ])
    func thisMachine(_ text: String) {
        let own: [[UInt8]] = [[192, 0, 2, 7], [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]]
        let verdict = Self.address(text).verdict { bytes in
            let isOwn = own.contains { address in bytes.indices.contains { bytes[$0...].starts(with: address) } }
            return isOwn ? .here : .away
        } nameServers: {
            []
        }
        #expect(verdict == .thisMachine)
    }

    @Test(
        "may be another machine", arguments: ["192.0.2.8", "10.0.0.1", "2001:db8::8", "::ffff:10.0.0.1", "64:ff9b::1"])
    func others(_ text: String) {
        #expect(
            Self.address(text).verdict { _ in
                .away
            } nameServers: {
                []
            } == .allowed)
    }

    @Test("may be a name server on this machine, at its port")
    func nameServer() {
        let settings =
            "# comment\nnameserver 127.0.0.53\nnameserver\t::1\nnameserver fe80::1%eth0\nnameserver x\noptions a\n"
        let servers = NetworkTarget.nameServers(in: Array(settings.utf8))
        #expect(servers.count == 3)
        func verdict(_ text: String, _ port: UInt16) -> NetworkTarget.Verdict {
            Self.address(text, port: port).verdict { _ in
                .here
            } nameServers: {
                servers
            }
        }
        #expect(verdict("127.0.0.53", 53) == .allowed)
        #expect(verdict("::1", 53) == .allowed)
        #expect(verdict("127.0.0.53", 54) == .thisMachine)
        #expect(verdict("127.0.0.1", 53) == .thisMachine)
        #expect(verdict("::ffff:127.0.0.53", 53) == .allowed)
    }

    @Test("are complete addresses of IPv4 or IPv6, or none")
    func forms() {
        func verdict(_ bytes: [UInt8]) -> NetworkTarget.Verdict {
            NetworkTarget(bytes: bytes).verdict { _ in
                .away
            } nameServers: {
                []
            }
        }
        #expect(verdict([0, 0]) == .allowed)  // AF_UNSPEC
        #expect(verdict([1, 0, 0x40]) == .otherFamily)
        #expect(verdict([2, 0, 0, 80, 10, 0]) == .otherFamily)
        #expect(verdict([10, 0, 0, 80] + [UInt8](repeating: 1, count: 20)) == .otherFamily)
        #expect(verdict([]) == .otherFamily)
    }

    @Test("are another machine if the kernel's tables say so, and this one without an entry")
    func ways() {
        #expect(NetworkTarget.Way(kind: 1) == .away)
        // RTN_LOCAL, RTN_BROADCAST, RTN_ANYCAST, RTN_MULTICAST, RTN_BLACKHOLE and later values.
        for kind in [0, 2, 3, 4, 5, 6, 8, 9, 10, 11, 99] as [Int32] { #expect(NetworkTarget.Way(kind: kind) == .here) }
        for error in [EAGAIN, EMFILE, ENOMEM, EIO, EBADMSG, EPERM, EAFNOSUPPORT] {
            #expect(NetworkTarget.Way(kind: -error) == .here)
        }
        for error in [ENETUNREACH, EHOSTUNREACH, EINVAL] {
            #expect(NetworkTarget.Way(kind: -error) == .none(error: error))
            let verdict = Self.address("192.0.2.8").verdict { _ in
                .none(error: error)
            } nameServers: {
                []
            }
            #expect(verdict == .unreachable(error: error))
        }
        // A link-local address without its interface.
        #expect(Self.address("fe80::1234").verdict() == .unreachable(error: EINVAL))
        #expect(Self.address("255.255.255.255").verdict() != .allowed)
        #expect(Self.address("224.0.0.1").verdict() != .allowed)
    }

    @Test(
        "are this machine at each of its addresses, even at one that another machine answers for",
        .enabled(if: geteuid() == 0, "only root can have a network of its own"))
    func secondAddresses() async {
        let own = ["192.0.2.1", "192.0.2.2", "198.51.100.9"]
        let verdicts = await withCheckedContinuation { done in
            Thread.detachNewThread {
                var texts = own.map { UnsafePointer(strdup($0)) }
                let error = ctestsupport_enter_own_network(&texts, Int32(texts.count))
                for text in texts { free(UnsafeMutablePointer(mutating: text)) }
                let asked = own + ["192.0.2.77", "::1", "203.0.113.1", "2001:db8::1"]
                done.resume(returning: error == 0 ? asked.map { Self.address($0).verdict() } : [])
            }
        }
        let none = NetworkTarget.Verdict.unreachable(error: ENETUNREACH)
        // All of 192.0.2/24 is on its loopback interface.
        #expect(verdicts == [.thisMachine, .thisMachine, .thisMachine, .thisMachine, .thisMachine, none, none])
    }

    @Test("are known to be this machine by the kernel")
    func kernel() {
        #expect(Self.address("127.0.0.1").verdict() == .thisMachine)
        #expect(Self.address("::1").verdict() == .thisMachine)
        var addresses: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&addresses) == 0 else { return }
        defer { freeifaddrs(addresses) }
        for entry in sequence(first: addresses, next: { $0?.pointee.ifa_next }) {
            guard let address = entry?.pointee.ifa_addr, address.pointee.sa_family == AF_INET else { continue }
            let bytes = Array(UnsafeRawBufferPointer(start: address, count: MemoryLayout<sockaddr_in>.size))
            #expect(NetworkTarget(bytes: bytes).verdict() == .thisMachine)
        }
    }
}
