// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BusTransport

/// A clock that only advances by the timed waits of a connection's thread.
private final class WaitedClock: Sendable {
    private struct State {
        var now: UInt64 = 1_000_000
        var waits: [Int32] = []
    }
    private let state = Mutex(State())
    private let happening: AsyncStream<Int32>.Continuation
    /// The time limits of idle waits, in milliseconds.
    let idleWaits: AsyncStream<Int32>

    init() { (idleWaits, happening) = AsyncStream.makeStream(of: Int32.self) }

    /// - Parameter expires: `true` if a wait with a limit returns immediately and advances the
    ///   clock by that limit.
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

@Suite("Stalled peers", .timeLimit(.minutes(10)))
struct StalledPeerTests {
    @Test(
        "An incomplete message or authentication ends the connection after the time limit",
        arguments: [0, 10, 60, 200])
    func stalled(count: Int) async throws {
        let message = RawPeer.call(body: [UInt8](repeating: 0, count: 100), signature: "ay")
        let peer = try RawPeer(
            kernel: WaitedClock().kernel(expires: true),
            first: Array((RawPeer.authentication + message).prefix(count)))
        let what = count < RawPeer.authentication.count ? "an authentication" : "a message"
        #expect(await peer.end() == .violated("\(what) that was not complete after 30 s"))
    }

    @Test("A connection without a partial message waits without a time limit")
    func idle() async throws {
        let clock = WaitedClock()
        let peer = try RawPeer(kernel: clock.kernel(expires: false))
        peer.send(RawPeer.authentication + RawPeer.call())
        let call = try #require(await peer.nextCall())
        call.reply([.string("done")])
        // The answer arrives, and then nothing.
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

    @Test("A peer that does not read is disconnected if too much data waits for it")
    func unread() async throws {
        var limits = BusLimits()
        limits.maximumUnsentBytes = 1 << 20
        let peer = try RawPeer(limits: limits)
        peer.send(RawPeer.authentication + RawPeer.call())
        _ = await peer.nextCall()
        let bytes = [UInt8](repeating: 0, count: 100_000)
        for _ in 0..<400 { peer.connection.post(BusConnectionTests.echo, [.bytes(bytes)]) }
        #expect(await peer.end() == .violated("it did not read, and more than 1048576 bytes are unsent"))
    }

    @Test("A peer that requests more than it reads is disconnected if too many answers wait for it")
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
            #expect(end == .violated("it did not read, and more than 100 messages are unsent"))
            break
        }
        await flood.value
        connection.close()
    }

    @Test("The host stops reading from a peer that is ahead of its answers")
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

    @Test("A peer that disconnects while its large message waits for memory is noticed at once")
    func goneWhileWaiting() async throws {
        let room = ReceiveBudget(lanes: [.init(messageBytes: .max, capacity: 1000)])
        let first = room.ask(1000) {}
        let peer = try RawPeer(room: room)
        let message = RawPeer.call(body: [UInt8](repeating: 0, count: 100_000), signature: "ay")
        peer.send(RawPeer.authentication + message.prefix(1000))
        #expect(await happens { first.isContended })
        shutdown(peer.socket.number, Int32(SHUT_RDWR))
        #expect(await peer.end() == .peerClosed)
        #expect(!first.isContended && room.held == 1000)
        first.end()
        #expect(room.held == 0)
    }

    @Test("A peer that disconnects while it is ahead of its answers is noticed before they are sent")
    func goneAhead() async throws {
        var limits = BusLimits()
        limits.maximumUnansweredBytes = 1000
        let peer = try RawPeer(limits: limits)
        peer.send(RawPeer.authentication)
        let body = RawPeer.word(600) + [UInt8](repeating: 1, count: 600)
        for serial in 1...5 as ClosedRange<UInt32> {
            peer.send(RawPeer.call(serial: serial, member: "C\(serial)", body: body, signature: "ay"))
        }
        let held = [try #require(await peer.nextCall()), try #require(await peer.nextCall())]
        shutdown(peer.socket.number, Int32(SHUT_RDWR))
        #expect(await peer.end() == .peerClosed)
        withExtendedLifetime(held) {}
    }

    @Test("A peer that waits for memory does not count as disconnected")
    func waitingForRoom() async throws {
        let room = ReceiveBudget(lanes: [.init(messageBytes: .max, capacity: 1000)])
        let first = room.ask(1000) {}
        let peer = try RawPeer(room: room)
        let body = RawPeer.word(100_000) + [UInt8](repeating: 0, count: 100_000)
        let message = RawPeer.call(body: body, signature: "ay")
        peer.send(RawPeer.authentication + message)
        #expect(await happens { first.isContended })
        first.end()
        let call = try #require(await peer.nextCall())
        #expect(call.arguments.count == 1)
    }

    @Test("A large call waits at the gate without memory, and requests memory when the gate opens")
    func gate() async throws {
        let room = ReceiveBudget(lanes: [.init(messageBytes: .max, capacity: 1000)])
        let gate = Gate()
        let peer = try RawPeer(room: room, gate: gate.ask)
        let body = RawPeer.word(100_000) + [UInt8](repeating: 0, count: 100_000)
        // Small messages pass.
        peer.send(RawPeer.authentication + RawPeer.call(serial: 1, member: "Small"))
        #expect(await peer.nextCall()?.member.member == "Small")
        #expect(gate.questions == 0)
        peer.send(RawPeer.call(serial: 2, body: body, signature: "ay"))
        #expect(await happens { gate.isWaiting })
        #expect(room.held == 0)
        // The gate opens while there is no room. By the time there is room, it is closed again.
        let other = room.ask(1000) {}
        gate.open(stays: true)
        #expect(await happens { other.isContended })
        gate.close()
        other.end()
        #expect(await happens { gate.isWaiting })
        #expect(await happens { room.held == 0 })
        gate.open(stays: true)
        let call = try #require(await peer.nextCall())
        #expect(room.held > 100_000)
        // The room is released before the answer, or with it.
        call.releaseRoom()
        #expect(room.held == 0)
        peer.send(RawPeer.call(serial: 3, body: body, signature: "ay"))
        let last = try #require(await peer.nextCall())
        #expect(room.held > 100_000)
        last.reply()
        #expect(await happens { room.held == 0 })
        call.reply()
    }

    @Test("A large call that is always read is not requested again, nor is the next call")
    func finalOpening() async throws {
        let gate = Gate()
        let peer = try RawPeer(room: ReceiveBudget(), gate: gate.ask)
        let body = RawPeer.word(100_000) + [UInt8](repeating: 0, count: 100_000)
        peer.send(RawPeer.authentication)
        for serial in 1...3 as ClosedRange<UInt32> {
            peer.send(RawPeer.call(serial: serial, body: body, signature: "ay"))
            #expect(await happens { gate.isWaiting })
            gate.open(stays: false, isFinal: true)
            let call = try #require(await peer.nextCall())
            call.reply()
        }
        #expect(gate.questions == 3)
    }

    @Test("A peer that disconnects while its large call waits at the gate is noticed at once")
    func goneAtGate() async throws {
        let gate = Gate()
        let peer = try RawPeer(room: ReceiveBudget(), gate: gate.ask)
        let message = RawPeer.call(body: [UInt8](repeating: 0, count: 100_000), signature: "ay")
        peer.send(RawPeer.authentication + message.prefix(1000))
        #expect(await happens { gate.isWaiting })
        #expect(!peer.connection.hasHungUp)
        shutdown(peer.socket.number, Int32(SHUT_RDWR))
        #expect(peer.connection.hasHungUp, "at once")
        #expect(await peer.end() == .peerClosed)
        // No thread is left that could be woken.
        gate.open(stays: true)
        #expect(peer.connection.hasHungUp)
    }

    @Test(
        "Unsent data is counted by message, even if messages are sent in between",
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

/// A gate that a test opens and closes.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var questions = 0
        var onOpen: (@Sendable (Bool) -> Void)?
    }
    private let state = Mutex(State())

    var isWaiting: Bool { state.withLock { $0.onOpen != nil } }
    var questions: Int { state.withLock { $0.questions } }

    var ask: BusConnection.LargeCallGate {
        { [self] onOpen in
            state.withLock { state in
                state.questions += 1
                if !state.isOpen { state.onOpen = onOpen }
                return state.isOpen
            }
        }
    }

    /// Opens the gate for the waiting call and, if `stays` is set, also for later calls.
    func open(stays: Bool, isFinal: Bool = false) {
        let onOpen = state.withLock { state in
            state.isOpen = stays
            defer { state.onOpen = nil }
            return state.onOpen
        }
        onOpen?(isFinal)
    }

    func close() { state.withLock { $0.isOpen = false } }
}

/// Polls until a condition that sends no notification holds. Returns `false` after a time limit.
private func happens(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(100)
    while !condition() {
        guard ContinuousClock.now < deadline else { return false }
        await Task.yield()
    }
    return true
}
