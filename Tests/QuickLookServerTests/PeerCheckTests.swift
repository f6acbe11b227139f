// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import QuickLookServer
import SystemSupport
import Testing

@Suite("The user of a connection")
struct PeerCheckTests {
    private let check: KernelPeerCheck
    private let listener: OwnedDescriptor
    private let port: UInt16

    init() throws {
        check = try KernelPeerCheck()
        (listener, port) = try QuickLookServer.listen(on: 0)
    }

    private static let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    private func connect(_ number: Int32, family: Int32 = AF_INET) throws -> OwnedDescriptor {
        try #require(number >= 0)
        let client = OwnedDescriptor(adopting: number)
        try #require(Loopback.connect(client.number, port, family: family) == 0)
        return client
    }

    private func accept() throws -> OwnedDescriptor {
        var waiting = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
        let number = Glibc.accept(listener.number, nil, nil)
        try #require(number >= 0)
        return OwnedDescriptor(adopting: number)
    }

    @Test("A connection of this user is recognised, of either family", arguments: [AF_INET, AF_INET6])
    func own(_ family: Int32) throws {
        let client = try connect(socket(family, Self.stream, 0), family: family)
        #expect(check.verdict(on: try accept()) == .own)
        withExtendedLifetime(client) {}
    }

    @Test(
        "A connection of another user is recognised, of either family", .enabled(if: geteuid() == 0, "needs root"),
        arguments: [AF_INET, AF_INET6])
    func other(_ family: Int32) throws {
        let client = try connect(ctestsupport_socket_of(65534, family), family: family)
        #expect(check.verdict(on: try accept()) == .other(65534))
        withExtendedLifetime(client) {}
    }

    @Test("A closed, half-closed or reset connection has no user, although its bytes are readable")
    func closed() throws {
        for ending in ["close", "shutdown", "reset"] {
            var client: OwnedDescriptor? = try connect(socket(AF_INET, Self.stream, 0))
            let number = try #require(client?.number)
            #expect(send(number, "GET /", 5, Int32(MSG_NOSIGNAL)) == 5)
            if ending == "shutdown" { shutdown(number, Int32(SHUT_WR)) }
            if ending == "reset" {
                var now = linger(l_onoff: 1, l_linger: 0)
                setsockopt(number, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
            }
            if ending != "shutdown" { client = nil }
            guard case .unknown = check.verdict(on: try accept()) else {
                Issue.record("\(ending): somebody's")
                return
            }
            withExtendedLifetime(client) {}
        }
    }

    @Test("A connection from another machine has no user")
    func noConnection() throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Self.stream, 0, &pair) == 0)
        let (one, other) = (OwnedDescriptor(adopting: pair[0]), OwnedDescriptor(adopting: pair[1]))
        guard case .unknown = check.verdict(on: one), case .unknown = check.verdict(on: listener) else {
            Issue.record("somebody's")
            return
        }
        withExtendedLifetime(other) {}
    }
}

/// Connections within this machine.
enum Loopback {
    /// Connects a socket to a port of 127.0.0.1. An IPv6 socket uses the mapped address.
    static func connect(_ number: Int32, _ port: UInt16, family: Int32 = AF_INET) -> Int32 {
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return connect(number, &address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
            bytes.copyBytes(from: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1])
        }
        return connect(number, &address)
    }

    private static func connect<Address>(_ number: Int32, _ address: inout Address) -> Int32 {
        withUnsafeMutableBytes(of: &address) { buffer in
            let length = socklen_t(buffer.count)
            return buffer.withMemoryRebound(to: sockaddr.self) { Glibc.connect(number, $0.baseAddress, length) }
        }
    }

    /// Returns a new connection to a port of 127.0.0.1.
    static func connection(to port: UInt16) -> OwnedDescriptor? {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        let client = OwnedDescriptor(adopting: number)
        return connect(number, port) == 0 ? client : nil
    }
}
