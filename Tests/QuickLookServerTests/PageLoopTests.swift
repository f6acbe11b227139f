// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import QuickLookServer
import Synchronization
import SystemSupport
import Testing

/// The page's server without its routes: “/browser/…” is accepted, everything else is rejected.
@Suite("Connections to the page", .timeLimit(.minutes(5)))
struct PageLoopTests {
    /// A peer check that reports this owner for all connections.
    private struct Stub: PeerCheck {
        var all: PeerVerdict
        func verdict(on connection: OwnedDescriptor) -> PeerVerdict { all }
    }

    private final class Log: Sendable {
        private let kept = Mutex<[String]>([])
        var lines: [String] { kept.withLock { $0 } }
        func add(_ line: String) { kept.withLock { $0.append(line) } }
    }

    /// Runs the server while a client runs on a separate thread, which may block.
    private func serve(
        _ limits: PageLimits = PageLimits(), whose verdict: PeerVerdict = .own, log: Log = Log(),
        answer: @escaping @Sendable ([String]) async -> PageReply = { _ in
            PageReply(type: "text/plain", policy: .data, body: .bytes(Array("found".utf8)))
        }, _ client: @escaping @Sendable (_ port: UInt16) throws -> Void
    ) async throws {
        let (listener, port) = try QuickLookServer.listen(on: 0)
        let refusal = PageReply(status: 403, type: "text/plain", policy: .data, body: .bytes(Array("no".utf8)))
        let loop = try PageLoop(
            listener, limits: limits, check: Stub(all: verdict), activity: Activity(),
            handlers: .init(
                admit: { request in
                    request.path.first == "browser"
                        ? .granted(path: Array(request.path.dropFirst())) : .answered(refusal, isWelcome: false)
                }, answer: { path, _ in await answer(path) }, log: { log.add($0) }))
        let serving = Task { await loop.run() }
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result { try client(port) }) }
        }
        serving.cancel()
        await serving.value
        try result.get()
    }

    private static func connect(_ port: UInt16) throws -> OwnedDescriptor {
        try #require(Loopback.connection(to: port))
    }

    private static func send(_ text: String, _ connection: OwnedDescriptor) -> Int {
        let bytes = Array(text.utf8)
        return Glibc.send(connection.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Returns all bytes that are received until the connection is closed.
    private static func rest(_ connection: OwnedDescriptor) -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(connection.number, &buffer, buffer.count, 0), count > 0 { all += buffer[..<count] }
        return String(decoding: all, as: UTF8.self)
    }

    /// Returns `true` if the answer has the body “found”.
    private static func found(_ connection: OwnedDescriptor) -> Bool {
        var all: [UInt8] = []
        var byte: UInt8 = 0
        while recv(connection.number, &byte, 1, 0) == 1 {
            all.append(byte)
            if all.ends(with: "found") { return all.starts(with: "HTTP/1.1 200 OK\r\n".utf8) }
        }
        return false
    }

    private static let request = "GET /browser/x HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test(
        "A connection of another or an unknown user is closed without an answer; many are logged in one line",
        arguments: [PeerVerdict.other(65534), .other(0), .unknown(ENOENT)])
    func others(_ verdict: PeerVerdict) async throws {
        let log = Log()
        try await serve(whose: verdict, log: log) { port in
            for _ in 0..<20 {
                let connection = try Self.connect(port)
                _ = Self.send(Self.request, connection)
                #expect(Self.rest(connection) == "")
            }
        }
        #expect(log.lines.count == 1, "\(log.lines)")
    }

    @Test("An invalid request is answered by 400 and closes the connection, with any following bytes")
    func refused() async throws {
        try await serve { port in
            for text in [
                "GET /browser/x HTTP/1.1\nHost: h\n\n", "GET /browser/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            ] {
                let connection = try Self.connect(port)
                #expect(Self.send(text + Self.request + String(repeating: "x", count: 60_000), connection) > 0)
                let answer = Self.rest(connection)
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && answer.contains("Connection: close\r\n"))
                #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answer)")
            }
        }
    }

    @Test("A connection without a complete request in time is closed, however slowly it sends")
    func slow() async throws {
        var limits = PageLimits()
        limits.headTime = .milliseconds(200)
        limits.lingerTime = .milliseconds(50)
        try await serve(limits) { port in
            let (silent, dribbling) = (try Self.connect(port), try Self.connect(port))
            #expect(Self.rest(silent) == "")
            var answer: [UInt8] = []
            // One byte after each pause: the client waits, and the server's time limit ends the
            // connection.
            while true {
                var waiting = pollfd(fd: dribbling.number, events: Int16(POLLIN), revents: 0)
                if poll(&waiting, 1, 20) == 0, Self.send("G", dribbling) == 1 { continue }
                var byte: UInt8 = 0
                guard recv(dribbling.number, &byte, 1, 0) == 1 else { break }
                answer.append(byte)
            }
            // “GGGG…” is not a complete request yet.
            #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 408 ".utf8))
        }
    }

    @Test(
        "Strangers only displace each other, never the browser; its new connections are served")
    func places() async throws {
        var limits = PageLimits()
        limits.strangers = 8
        try await serve(limits) { port in
            let browser = try Self.connect(port)
            #expect(Self.send(Self.request, browser) > 0 && Self.found(browser))
            var strangers: [OwnedDescriptor] = []
            for number in 0..<100 {
                strangers.append(try Self.connect(port))
                if number.isMultiple(of: 2) { _ = Self.send("GET /", strangers[number]) }
            }
            // The oldest strangers' connections were closed.
            for stranger in strangers[..<92] { #expect(Self.rest(stranger) == "") }
            #expect(Self.send(Self.request, browser) > 0 && Self.found(browser))
            let another = try Self.connect(port)
            #expect(Self.send(Self.request, another) > 0 && Self.found(another))
        }
    }

    @Test("The browser's connections are limited, an idle one yields, and so are the requests of each")
    func browsers() async throws {
        var limits = PageLimits()
        limits.browsers = 2
        limits.requests = 3
        try await serve(limits) { port in
            let connections = try (0..<3).map { _ in
                let connection = try Self.connect(port)
                #expect(Self.send(Self.request, connection) > 0 && Self.found(connection))
                return connection
            }
            #expect(Self.rest(connections[0]) == "")
            #expect(Self.send(Self.request, connections[2]) > 0 && Self.found(connections[2]))
            #expect(Self.send(Self.request, connections[2]) > 0)
            let last = Self.rest(connections[2])
            #expect(last.contains("Connection: close\r\n") && last.hasSuffix("found"))
        }
    }

    @Test("Requests that arrive together are answered in order")
    func together() async throws {
        try await serve { port in
            let connection = try Self.connect(port)
            let last = Self.request.replacing("Host: h", with: "Host: h\r\nConnection: close")
            #expect(Self.send(Self.request + Self.request + last, connection) > 0)
            #expect(Self.rest(connection).components(separatedBy: "found").count == 4)
        }
    }

    @Test("The server ends at once, with an endless answer, an unread one, and a partial request")
    func end() async throws {
        // Measured on a thread that may block.
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result { try Self.timeToEnd() }) }
        }
        #expect(try result.get() < .seconds(1))
    }

    private static func timeToEnd() throws -> Duration {
        let (listener, port) = try QuickLookServer.listen(on: 0)
        let started = DispatchSemaphore(value: 0)
        // Far more than socket buffers hold.
        let large = [UInt8](repeating: 0x20, count: 64 << 20)
        let loop = try PageLoop(
            listener, check: Stub(all: .own), activity: Activity(),
            handlers: .init(
                admit: { .granted(path: $0.path) },
                answer: { path, _ in
                    started.signal()
                    if path == ["large"] { return PageReply(type: "text/plain", policy: .data, body: .bytes(large)) }
                    // Ignores the cancellation.
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().asyncAfter(deadline: .now() + 5) { continuation.resume() }
                    }
                    return PageReply(type: "text/plain", policy: .data, body: .bytes([]))
                }))
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            loop.serve()
            ended.signal()
        }
        var open: [OwnedDescriptor] = []
        for text in ["", "GET /", "GET /large HTTP/1.1\r\nHost: h\r\n\r\n", request] {
            open.append(try connect(port))
            _ = send(text, open[open.count - 1])
        }
        for _ in 0..<2 { started.wait() }
        let start = ContinuousClock.now
        loop.stop()
        ended.wait()
        return withExtendedLifetime(open) { ContinuousClock.now - start }
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
