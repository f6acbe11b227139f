// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BusTransport
@testable import SystemSupport

/// Blocks a connection's thread in its wait.
private final class HeldWait: Sendable {
    private let isHolding = Mutex(false)
    private let release = DispatchSemaphore(value: 0)
    private let holding: AsyncStream<Void>.Continuation
    /// Yields when the thread is blocked.
    let held: AsyncStream<Void>

    init() { (held, holding) = AsyncStream.makeStream(of: Void.self) }

    var kernel: BusKernel {
        let real = BusKernel()
        return BusKernel(
            now: real.now,
            wait: { [self] descriptors, time in
                guard isHolding.withLock({ $0 }) else { return real.wait(&descriptors, time) }
                holding.yield()
                release.wait()
                return real.wait(&descriptors, time)
            })
    }

    /// Blocks the thread at its next wait.
    func hold() { isHolding.withLock { $0 = true } }

    func letGo() {
        isHolding.withLock { $0 = false }
        release.signal()
    }
}

@Suite("Sending while the connection's thread waits", .timeLimit(.minutes(10)))
struct DirectSendingTests {
    private static let note = BusMember("com.searchlight.Test1", "Note")

    /// A host whose thread can be blocked, and the messages that its worker receives.
    private struct Pair {
        let host: BusConnection
        let worker: BusConnection
        let wait = HeldWait()
        /// The received numbers; for bytes, their count.
        let told: AsyncStream<[UInt64]>
        /// Yields when the host's connection has ended.
        let ended: AsyncStream<Void>
        /// The worker's end of the socket, controlled by a hostile worker.
        let workersSocket: OwnedDescriptor
        /// While it is locked, the worker reads nothing.
        let reading = DispatchSemaphore(value: 1)

        init() async throws {
            let (told, telling) = AsyncStream.makeStream(of: [UInt64].self)
            let (ended, ending) = AsyncStream.makeStream(of: Void.self)
            (self.told, self.ended) = (told, ended)
            var descriptors: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
            host = try BusConnection(
                adopting: OwnedDescriptor(adopting: descriptors[0]), side: .server, name: "test-host", limits: nil,
                kernel: wait.kernel, onCall: { $0.reply() }, onDisconnect: { _ in ending.yield() })
            workersSocket = OwnedDescriptor(adopting: dup(descriptors[1]))
            worker = try BusConnection(
                adopting: OwnedDescriptor(adopting: descriptors[1]), side: .client, name: "test-worker",
                onCall: { [reading] call in
                    reading.wait()
                    reading.signal()
                    if !call.arguments.isEmpty { telling.yield(call.arguments.map(number)) }
                    call.reply(call.arguments)
                }, onDisconnect: { _ in })
            // Waits for the authentication.
            _ = try await host.call(DirectSendingTests.note)
        }

        /// Returns when the host's thread is blocked in its wait.
        func holdThread() async {
            wait.hold()
            // The thread reads an answer and waits again. The test does not wait for the answer,
            // because the thread may be blocked before it can read the answer.
            host.call(DirectSendingTests.note, []) { _ in }
            for await _ in wait.held { break }
        }
    }

    @Test("Messages that are posted while the thread waits are sent without the thread")
    func sentByThePoster() async throws {
        let pair = try await Pair()
        await pair.holdThread()
        pair.host.post(Self.note, [.unsigned(1)])
        var told = pair.told.makeAsyncIterator()
        #expect(await told.next() == [1])
        pair.wait.letGo()
    }

    @Test("The thread sends the bytes that do not fit into the socket")
    func restIsSentByTheThread() async throws {
        let pair = try await Pair()
        await pair.holdThread()
        let large = 8 << 20
        pair.host.post(Self.note, [.bytes([UInt8](repeating: 7, count: large))])
        // This message is queued behind the unsent messages.
        pair.host.post(Self.note, [.unsigned(2)])
        pair.wait.letGo()
        var told = pair.told.makeAsyncIterator()
        #expect(await told.next() == [UInt64(large)])
        #expect(await told.next() == [2])
    }

    @Test("The serial number of a call is known before its answer arrives")
    func serialFirst() async throws {
        let pair = try await Pair()
        for _ in 0..<200 {
            let serial = Mutex<UInt64?>(nil)
            let outcome = Mutex<UInt64?>(nil)
            let (done, doing) = AsyncStream.makeStream(of: Void.self)
            pair.host.call(noting: { number in serial.withLock { $0 = number } }, Self.note, []) { _ in
                outcome.withLock { $0 = serial.withLock { $0 } }
                doing.yield()
            }
            for await _ in done { break }
            #expect(outcome.withLock { $0 } != nil)
        }
    }

    @Test("Messages that many threads post at once arrive complete and in each thread's order")
    func orderOfEach() async throws {
        let (threads, each) = (8, 400)
        let pair = try await Pair()
        for thread in 0..<threads {
            Thread.detached {
                for number in 0..<each {
                    pair.host.post(Self.note, [.unsigned(UInt64(thread)), .unsigned(UInt64(number))])
                }
            }
        }
        var next = [UInt64](repeating: 0, count: threads)
        var told = pair.told.makeAsyncIterator()
        for _ in 0..<(threads * each) {
            let values = try #require(await told.next())
            let (thread, number) = (values[0], values[1])
            #expect(next[Int(thread)] == number)
            next[Int(thread)] = number + 1
        }
        #expect(next == [UInt64](repeating: UInt64(each), count: threads))
    }

    @Test("When a peer stops reading, the connection ends, and earlier calls fail too")
    func peerWithoutEars() async throws {
        let pair = try await Pair()
        pair.reading.wait()
        defer { pair.reading.signal() }
        let (answers, answering) = AsyncStream.makeStream(of: Bool.self)
        pair.host.call(Self.note, []) { result in
            if case .failure(.disconnected) = result { answering.yield(true) } else { answering.yield(false) }
        }
        // The kernel wakes no thread for this shutdown. Only a sending thread detects it.
        shutdown(pair.workersSocket.number, Int32(SHUT_RD))
        pair.host.post(Self.note, [.unsigned(1)])
        for await _ in pair.ended { break }
        for await isDisconnected in answers {
            #expect(isDisconnected)
            break
        }
    }

    @Test("Calls fail after the connection has ended, with any sender")
    func afterTheEnd() async throws {
        let pair = try await Pair()
        await pair.holdThread()
        pair.host.close()
        await #expect(throws: BusError.self) { try await pair.host.call(Self.note) }
        pair.wait.letGo()
    }
}

private func number(_ value: BusValue) -> UInt64 {
    switch value {
    case .unsigned(let number): number
    case .bytes(let bytes): UInt64(bytes.count)
    default: .max
    }
}

/// A separate thread, because the thread pool has few threads.
private enum Thread {
    static func detached(_ body: @escaping @Sendable () -> Void) { _ = OwnThread.start("test-poster", body) }
}
