// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BusTransport

@Suite("Connections to untrusted peers", .timeLimit(.minutes(10)))
struct GuardedConnectionTests {
    @Test("A descriptor may come with the last bytes of the authentication")
    func firstMessage() async throws {
        let peer = try RawPeer()
        let file = try RawPeer.file()
        let message = RawPeer.call(body: RawPeer.word(0), signature: "h", descriptors: 1)
        peer.send(RawPeer.authentication)
        peer.send(message, descriptors: [file.number])
        let call = try #require(await peer.nextCall())
        var arguments = BusArguments(call.arguments, of: "Echo")
        #expect(try arguments.descriptor().number != file.number)
    }

    @Test("A message in pieces of one byte arrives complete")
    func pieces() async throws {
        let peer = try RawPeer()
        for byte in RawPeer.authentication + RawPeer.call(member: "Slow") { peer.send([byte]) }
        #expect(await peer.nextCall()?.member.member == "Slow")
    }

    @Test("The guard passes small and large messages in both directions", arguments: [true, false])
    func bothSides(guardsClient: Bool) async throws {
        let (first, second) = try socketPair()
        let host = try BusConnection(
            adopting: first, side: .server, name: "test-host", limits: BusLimits(), onCall: { $0.reply($0.arguments) },
            onDisconnect: { _ in })
        let client = try BusConnection(
            adopting: second, side: .client, name: "test-client", limits: guardsClient ? BusLimits() : nil,
            onCall: { $0.reply($0.arguments) }, onDisconnect: { _ in })
        // An unguarded client cannot receive a descriptor immediately.
        if !guardsClient { _ = try await host.call(BusConnectionTests.echo) }
        let file = try RawPeer.file()
        for count in [0, 1, 5000, 70_000, 1 << 20, 32 << 20] {
            var bytes = [UInt8](repeating: 7, count: count)
            for place in stride(from: 0, to: count, by: 4099) { bytes[place] = UInt8(truncatingIfNeeded: place) }
            for connection in [host, client] {
                let answer = try await connection.call(
                    BusConnectionTests.echo, [.bytes(bytes), .descriptor(file), .string("é")])
                var arguments = BusArguments(answer, of: "Echo")
                #expect(try arguments.bytes() == bytes)
                _ = try arguments.descriptor()
                #expect(try arguments.string() == "é")
            }
        }
    }

    @Test(
        "A violated limit ends the connection with the reason",
        arguments: [
            (
                RawPeer.authentication + [0x6C, 1, 0, 1] + RawPeer.word(33 << 20) + RawPeer.word(1) + RawPeer.word(0),
                "a message of"
            ),
            ([0] + [UInt8](repeating: 0x41, count: 20_000), "an authentication of more than 16384 bytes"),
        ] as [([UInt8], String)])
    func violations(bytes: [UInt8], text: String) async throws {
        let peer = try RawPeer()
        peer.send(bytes)
        guard case .violated(let limit)? = await peer.end() else {
            Issue.record("the connection did not end with a violation")
            return
        }
        #expect(limit.contains(text))
        let calling = peer.connection
        await #expect(throws: BusError.self) { try await calling.call(BusConnectionTests.echo) }
    }

    @Test("A large call without a reply is dropped, because nothing would count it while it waits")
    func uncounted() async throws {
        let (first, second) = try socketPair()
        let received = Mutex<[Int]>([])
        let host = try BusConnection(
            adopting: first, side: .server, name: "test-host", limits: BusLimits(),
            onCall: { call in
                received.withLock { $0.append(call.arguments.reduce(0) { $0 + $1.approximateBytes }) }
                call.reply()
            }, onDisconnect: { _ in })
        let client = try BusConnection(
            adopting: second, side: .client, name: "test-client", onCall: { $0.reply() }, onDisconnect: { _ in })
        client.post(BusConnectionTests.echo, [.bytes([UInt8](repeating: 7, count: 1 << 20))])
        client.post(BusConnectionTests.echo, [.bytes([UInt8](repeating: 7, count: 100))])
        _ = try await client.call(BusConnectionTests.echo)
        #expect(received.withLock { $0 } == [108, 0])
        host.close()
    }

    @Test("An ended connection names its cause")
    func ends() async throws {
        let closed = try RawPeer()
        closed.connection.close()
        #expect(await closed.end() == .closed)
        let gone = try RawPeer()
        shutdown(gone.socket.number, Int32(SHUT_RDWR))
        #expect(await gone.end() == .peerClosed)
        let garbage = try RawPeer()
        garbage.send(RawPeer.authentication + [UInt8](repeating: 0x41, count: 64))
        #expect(await garbage.end() == .malformed("a message of unknown byte order"))
        let refused = try RawPeer()
        refused.send(Array("\0AUTH EXTERNAL 31323334353637\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8) + RawPeer.call())
        guard case .malformed? = await refused.end() else {
            Issue.record("a client that says it is another user was not refused")
            return
        }
    }

    @Test("Too many descriptors in a message end the connection, and all are closed")
    func tooManyDescriptors() async throws {
        let peer = try RawPeer()
        let file = try RawPeer.file()
        let message = RawPeer.call(body: RawPeer.word(0), signature: "h", descriptors: 17)
        peer.send(RawPeer.authentication)
        peer.send(Array(message[..<16]), descriptors: Array(repeating: file.number, count: 16))
        peer.send(Array(message[16...]), descriptors: [file.number])
        guard case .violated? = await peer.end() else {
            Issue.record("the connection did not end with a violation")
            return
        }
        #expect(RawPeer.descriptors(of: file) == 1)
    }

    @Test("A message has no more descriptors than the protocol needs")
    func fewDescriptors() async throws {
        let peer = try RawPeer()
        let file = try RawPeer.file()
        let message = RawPeer.call(body: RawPeer.word(0), signature: "h", descriptors: 3)
        peer.send(RawPeer.authentication)
        peer.send(message, descriptors: Array(repeating: file.number, count: 3))
        peer.send(RawPeer.call())
        guard case .violated? = await peer.end() else {
            Issue.record("the connection did not end with a violation")
            return
        }
        #expect(RawPeer.descriptors(of: file) == 1)
    }

    @Test("Descriptors of rejected, partial, unread and damaged messages are closed")
    func descriptorLeaks() async throws {
        let file = try RawPeer.file()
        let good = RawPeer.call(body: RawPeer.word(0), signature: "h", descriptors: 1)
        var random = SplitMix64(seed: MutationLoop.seed)
        for round in 0..<300 {
            let peer = try RawPeer()
            var bytes = good
            switch round % 3 {
            case 0: bytes = Array(good[..<(1 + random.below(good.count))])
            case 1: bytes[random.below(bytes.count)] = UInt8(random.below(256))
            default: bytes = RawPeer.call(body: RawPeer.word(UInt32(random.below(3))), signature: "h", descriptors: 1)
            }
            peer.send(RawPeer.authentication)
            peer.send(bytes, descriptors: [file.number])
            // Ends the connection if the message did not.
            shutdown(peer.socket.number, Int32(SHUT_WR))
            _ = await peer.end()
            for await _ in peer.calls {}
        }
        #expect(RawPeer.descriptors(of: file) == 1)
    }

    @Test("sd-bus accepts every message that the guard accepts")
    func agreement() async throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let good = RawPeer.call(serial: 7, body: RawPeer.word(0), signature: "ay")
        for _ in 0..<300 {
            let peer = try RawPeer()
            var bytes = good
            // Leaves two parts as they are: the lengths, because they determine where the next
            // message starts, and the types at the end, because sd-bus itself rejects wrong types.
            let place = 16 + random.below(good.count - 32)
            bytes[place] =
                random.below(2) == 0 ? bytes[place] ^ (1 << UInt8(random.below(8))) : UInt8(random.below(256))
            peer.send(RawPeer.authentication + bytes + RawPeer.call(serial: 8, member: "Last"))
            var members: [String] = []
            while let call = await peer.nextCall() {
                members.append(call.member.member)
                if call.member.member == "Last" { break }
            }
            if members.isEmpty {
                guard case .malformed? = await peer.end() else {
                    Issue.record("a message was dropped without a reason: \(bytes)")
                    return
                }
            } else {
                #expect(members.count == 2, "sd-bus dropped \(bytes)")
            }
        }
    }
}
