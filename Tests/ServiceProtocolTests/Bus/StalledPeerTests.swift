// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Testing
import TestSupport

@testable import ServiceProtocol

/// A clock that stands still but for what a connection's thread would have waited with a time limit.
private final class WaitedClock: Sendable {
    private struct State {
        var now: UInt64 = 1_000_000
        var waits: [Int32] = []
    }
    private let state = Mutex(State())
    private let happening: AsyncStream<Int32>.Continuation
    /// The time limits of the waits in which there was nothing to do, in milliseconds.
    let idleWaits: AsyncStream<Int32>

    init() { (idleWaits, happening) = AsyncStream.makeStream(of: Int32.self) }

    /// - Parameter expires: Whether a wait with a limit is over at once, and the time gone.
    func kernel(expires: Bool) -> BusKernel {
        let real = BusKernel()
        return BusKernel(
            now: { [self] in state.withLock { $0.now } },
            wait: { [self] descriptors, time in
                let ready = real.wait(&descriptors, 0)
                if ready != 0 { return ready }
                happening.yield(time)
                guard expires, time > 0 else { return real.wait(&descriptors, expires ? time : -1) }
                state.withLock { $0.now += UInt64(time) * 1000 }
                return 0
            })
    }
}

@Suite("Peers that do not go on", .timeLimit(.minutes(10)))
struct StalledPeerTests {
    @Test(
        "A message that does not end, or an authentication, ends the connection after the time limit",
        arguments: [0, 10, 60, 200])
    func stalled(count: Int) async throws {
        let message = RawPeer.call(body: [UInt8](repeating: 0, count: 100), signature: "ay")
        let peer = try RawPeer(
            kernel: WaitedClock().kernel(expires: true),
            first: Array((RawPeer.authentication + message).prefix(count)))
        let what = count < RawPeer.authentication.count ? "an authentication" : "a message"
        #expect(await peer.end() == .violated("\(what) that was not complete after 30 s"))
    }

    @Test("A connection on which nothing is half-sent waits without a time limit")
    func idle() async throws {
        let clock = WaitedClock()
        let peer = try RawPeer(kernel: clock.kernel(expires: false))
        peer.send(RawPeer.authentication + RawPeer.call())
        let call = try #require(await peer.nextCall())
        call.reply([.string("done")])
        // The answer, then nothing.
        var received = [UInt8](repeating: 0, count: 4096)
        var text = ""
        while !text.contains("done") {
            let count = read(peer.socket.number, &received, received.count)
            try #require(count > 0)
            text += String(decoding: received[..<count], as: UTF8.self)
        }
        var last: Int32?
        for await wait in clock.idleWaits {
            last = wait
            if wait == -1 { break }
        }
        #expect(last == -1)
    }

    @Test("A peer that does not read is disconnected when too much waits for it")
    func unread() async throws {
        var limits = BusLimits()
        limits.maximumUnsentBytes = 1 << 20
        let peer = try RawPeer(limits: limits)
        peer.send(RawPeer.authentication + RawPeer.call())
        _ = await peer.nextCall()
        let bytes = [UInt8](repeating: 0, count: 100_000)
        for _ in 0..<400 { peer.connection.post(BusConnectionTests.echo, [.bytes(bytes)]) }
        #expect(await peer.end() == .violated("it did not read while more than 1048576 bytes waited for it"))
    }

    @Test("A peer that asks for more than it reads is disconnected when too many answers wait for it")
    func unreadAnswers() async throws {
        var limits = BusLimits()
        limits.maximumUnsentMessages = 100
        let (own, other) = try socketPair()
        let (ends, ending) = AsyncStream.makeStream(of: BusEnd.self)
        let connection = try BusConnection(
            adopting: other, side: .server, name: "test-guarded", limits: limits,
            onCall: { $0.reply([.bytes([UInt8](repeating: 0, count: 10_000))]) }, onDisconnect: { ending.yield($0) })
        let flood = Task.detached {
            guard write(own.number, RawPeer.authentication, RawPeer.authentication.count) > 0 else { return }
            for serial in 1...100_000 as ClosedRange<UInt32> {
                let call = RawPeer.call(serial: serial)
                guard send(own.number, call, call.count, Int32(MSG_NOSIGNAL)) == call.count else { return }
            }
        }
        for await end in ends {
            #expect(end == .violated("it did not read while more than 100 messages waited for it"))
            break
        }
        await flood.value
        connection.close()
    }

    @Test("A peer ahead of its answers is read no further until they are given")
    func backPressure() async throws {
        var limits = BusLimits()
        limits.maximumUnansweredBytes = 1000
        let peer = try RawPeer(limits: limits)
        peer.send(RawPeer.authentication)
        let body = RawPeer.word(600) + [UInt8](repeating: 1, count: 600)
        for serial in 1...5 as ClosedRange<UInt32> {
            peer.send(RawPeer.call(serial: serial, member: "C\(serial)", body: body, signature: "ay"))
        }
        var held = [try #require(await peer.nextCall())]
        held.append(try #require(await peer.nextCall()))
        #expect(held.map(\.member.member) == ["C1", "C2"])
        for expected in ["C3", "C4", "C5"] {
            held.removeFirst().reply()
            let call = try #require(await peer.nextCall())
            #expect(call.member.member == expected)
            held.append(call)
        }
    }

    @Test(
        "What waits to be sent is counted by message, whatever is sent in between",
        arguments: 1...50 as ClosedRange<UInt64>)
    func unsentCount(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var unsent = UnsentMessages(limits: BusLimits())
        var waiting: [Int] = []
        for _ in 0..<500 {
            if random.below(2) == 0 {
                let size = random.below(1000)
                waiting.append(size)
                unsent.append(size)
            } else {
                waiting.removeFirst(random.below(waiting.count + 1))
                try unsent.settle(queued: waiting.count)
                #expect(unsent.bytes == waiting.reduce(0, +))
            }
        }
    }
}
