// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import ServiceMessages
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightService

/// Any bytes may arrive on the socket. Other clients are served regardless.
@Suite("Hostile connections", .timeLimit(.minutes(10)))
struct HostileTests {
    /// A connection that speaks D-Bus only when asked to.
    private struct RawConnection {
        let socket: OwnedDescriptor

        init(_ store: String) throws { socket = try ServiceSocket.connect(inFolder: store) }

        /// Sends as much as the socket accepts.
        func send(_ bytes: [UInt8]) {
            _ = Glibc.send(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }

        /// Authenticates as every client does at the start.
        func authenticate() {
            let user = "\(getuid())".utf8.map { byte in
                let digits = Array("0123456789abcdef".utf8)
                return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }.flatMap { $0 }
            send([0] + Array("AUTH EXTERNAL ".utf8) + user + Array("\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8))
        }
    }

    /// Returns the header of a call with a body of this length.
    private static func head(bodyBytes: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "l"), 1, 0, 1]
        func number(_ value: UInt32) {
            for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        number(bodyBytes)
        number(1)
        var fields: [UInt8] = []
        func field(_ code: UInt8, _ type: Character, _ value: String) {
            while fields.count % 8 != 0 { fields.append(0) }
            fields += [code, 1, UInt8(ascii: type == "o" ? "o" : "s"), 0]
            let count = UInt32(value.utf8.count)
            for shift in [0, 8, 16, 24] as [UInt32] { fields.append(UInt8(truncatingIfNeeded: count >> shift)) }
            fields += Array(value.utf8) + [0]
        }
        field(1, "o", "/com/searchlight")
        field(2, "s", "com.searchlight.Index1")
        field(3, "s", "Commit")
        number(UInt32(fields.count))
        bytes += fields
        while bytes.count % 8 != 0 { bytes.append(0) }
        return bytes
    }

    @Test("A title that D-Bus readers reject does not hide a launcher's other hits")
    func noncharacters() async throws {
        let service = try await TestService()
        let app = try await service.app()
        let noncharacter = String(try #require(Unicode.Scalar(0xFFFE as UInt32)))
        try await app.donate(["a"], title: "cheese " + noncharacter)
        try await app.donate(["b"], title: "cheese")
        // A launcher does not wait for the latest donations, but other clients do.
        _ = try await app.query("title == '*'")
        let shell = try await service.shell()
        let answer = try await shell.connection.call(
            BusMember(LauncherRequest.interface, "Search"), [.string("cheese"), .dictionary([:])])
        guard case .dictionaries(let items)? = answer.first else { throw BusError.malformed("\(answer)") }
        #expect(items.count == 2)
        await service.stop()
    }

    @Test("Garbage, partial messages, large messages and silence delay no other client")
    func healthyClient() async throws {
        let service = try await TestService()
        let healthy = try await service.app()
        var random = SplitMix64(seed: 3)
        var attackers: [RawConnection] = []
        for kind in 0..<40 {
            let attacker = try RawConnection(service.store)
            switch kind % 5 {
            case 0: attacker.send((0..<4096).map { _ in UInt8(random.below(256)) })
            case 1:
                attacker.authenticate()
                attacker.send(Self.head(bodyBytes: 64 << 20))
                attacker.send([UInt8](repeating: 0, count: 60_000))
            case 2:
                attacker.authenticate()
                attacker.send(Array(Self.head(bodyBytes: 100).prefix(random.below(80))))
            case 3:
                attacker.authenticate()
                attacker.send(Self.head(bodyBytes: 0xFFFF_FFFF))
            default: attacker.send(Array("\0AUTH ANONYMOUS\r\n".utf8))
            }
            attackers.append(attacker)
            try await healthy.donate(["\(kind)"])
        }
        let found = try await healthy.query("title == '*'").identifiers
        #expect(found.count == 40)
        attackers = []
        #expect(await eventually { service.service.sessionCount == 1 })
        #expect(service.service.heldBytes == 0)
        await service.stop()
    }

    @Test("Mutated conversations end at most their own connection", arguments: 1...4 as ClosedRange<UInt64>)
    func mutated(seed: UInt64) async throws {
        let service = try await TestService()
        let healthy = try await service.app()
        var random = SplitMix64(seed: seed)
        for round in 0..<(MutationLoop.inputs / 160) {
            let attacker = try RawConnection(service.store)
            attacker.authenticate()
            var message = Self.head(bodyBytes: 8) + [0, 0, 0, 0, 0, 0, 0, 0]
            for _ in 0...random.below(6) { message[random.below(message.count)] = UInt8(random.below(256)) }
            for _ in 0..<3 { attacker.send(message) }
            try await healthy.donate(["\(round)"])
        }
        #expect(await eventually { service.service.sessionCount == 1 })
        await service.stop()
    }

    @Test("A client that calls endlessly and never reads is not served endlessly")
    func flood() async throws {
        let service = try await TestService()
        let healthy = try await service.app()
        let flooder = try await service.app("com.example.flood")
        let cancel = QueryRequest.cancel(number: 1)
        for _ in 0..<5000 { flooder.connection.post(cancel.member, cancel.arguments) }
        let unknown = BusMember("com.example.Nothing1", "Nothing")
        for _ in 0..<2000 { flooder.connection.call(unknown, []) { _ in } }
        try await healthy.donate(["a"])
        let found = try await healthy.query("title == 'a'").identifiers
        #expect(found == ["a"])
        flooder.connection.close()
        #expect(await eventually { service.service.sessionCount == 1 })
        await service.stop()
    }
}
