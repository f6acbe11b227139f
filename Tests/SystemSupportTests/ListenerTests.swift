// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Accepting connections", .timeLimit(.minutes(10)))
struct ListenerTests {
    @Test("Every connection arrives, in order, and none after the end")
    func connections() async throws {
        let folder = try TemporaryFolder()
        let (connections, arrival) = AsyncStream.makeStream(of: OwnedDescriptor.self)
        let listener = try Listener(
            adopting: try ServiceSocket.listen(inFolder: folder.path), name: "test-listener",
            onTrouble: { Issue.record("\($0)") }, onConnection: { arrival.yield($0) })
        var next = connections.makeAsyncIterator()
        for number in 0..<50 as Range<UInt8> {
            let client = try ServiceSocket.connect(inFolder: folder.path)
            var byte = number
            #expect(write(client.number, &byte, 1) == 1)
            let server = try #require(await next.next())
            var received: UInt8 = 255
            #expect(read(server.number, &received, 1) == 1)
            #expect(received == number)
            #expect(fcntl(server.number, F_GETFD) & FD_CLOEXEC != 0)
        }
        listener.close()
        listener.close()
        while (try? ServiceSocket.connect(inFolder: folder.path)) != nil { await Task.yield() }
    }

    @Test(
        "Without free descriptors a client is rejected at once and the next one is served",
        arguments: [EMFILE, ENFILE, ENOMEM])
    func exhaustion(code: Int32) async throws {
        let folder = try TemporaryFolder()
        let script = ListenerScript(failures: [code])
        let (events, happening) = AsyncStream.makeStream(of: String.self)
        let listener = try Listener(
            adopting: try ServiceSocket.listen(inFolder: folder.path), name: "test-listener",
            kernel: script.kernel, onTrouble: { happening.yield("\($0)") },
            onConnection: { _ in happening.yield("connection") })
        defer { listener.close() }
        var next = events.makeAsyncIterator()
        let refused = try ServiceSocket.connect(inFolder: folder.path)
        #expect(await next.next() == Listener.Trouble.exhausted(code: code).description)
        var byte: UInt8 = 0
        #expect(read(refused.number, &byte, 1) == 0)
        _ = try ServiceSocket.connect(inFolder: folder.path)
        #expect(await next.next() == "connection")
        #expect(script.timeouts.allSatisfy { $0 == -1 })
    }

    @Test("Without the spare descriptor the client waits and is served later, without spinning")
    func starvation() async throws {
        let folder = try TemporaryFolder()
        let script = ListenerScript(failures: [EMFILE, EMFILE])
        let (events, happening) = AsyncStream.makeStream(of: String.self)
        let listener = try Listener(
            adopting: try ServiceSocket.listen(inFolder: folder.path), name: "test-listener",
            kernel: script.kernel, onTrouble: { happening.yield("\($0)") },
            onConnection: { _ in happening.yield("connection") })
        defer { listener.close() }
        let client = try ServiceSocket.connect(inFolder: folder.path)
        var next = events.makeAsyncIterator()
        #expect(await next.next() == Listener.Trouble.exhausted(code: EMFILE).description)
        #expect(await next.next() == "connection")
        #expect(script.timeouts.prefix(2) == [-1, 1000])
        #expect(client.number >= 0)
    }

    @Test("A socket that cannot be listened on ends the listener with the reason")
    func failure() async throws {
        let folder = try TemporaryFolder()
        let script = ListenerScript(failures: [ECONNABORTED, EINVAL])
        let (events, happening) = AsyncStream.makeStream(of: String.self)
        let listener = try Listener(
            adopting: try ServiceSocket.listen(inFolder: folder.path), name: "test-listener",
            kernel: script.kernel, onTrouble: { happening.yield("\($0)") },
            onConnection: { _ in happening.yield("connection") })
        let client = try ServiceSocket.connect(inFolder: folder.path)
        var next = events.makeAsyncIterator()
        #expect(await next.next() == Listener.Trouble.failed(code: EINVAL).description)
        #expect(client.number >= 0)
        listener.close()
    }
}

/// The real kernel, except that `accept` fails as configured and pauses take no time.
private final class ListenerScript: Sendable {
    private let state: Mutex<(failures: [Int32], timeouts: [Int32])>

    init(failures: [Int32]) { state = Mutex((failures, [])) }

    /// The time-outs of the waits, in order.
    var timeouts: [Int32] { state.withLock { $0.timeouts } }

    var kernel: Listener.Kernel {
        let real = Listener.Kernel()
        return Listener.Kernel(
            accept: { [self] listener in
                let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
                return if let failure { .failure(ErrnoCode(failure)) } else { real.accept(listener) }
            },
            wait: { [self] descriptors, time in
                state.withLock { $0.timeouts.append(time) }
                return time > 0 ? 0 : real.wait(&descriptors, time)
            })
    }
}
