// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import QuickLookSimulator
import Testing

@Suite("Connections to the page's server", .timeLimit(.minutes(10)))
struct QuickLookConnectionTests {
    @Test("Of too many that wait, those that have waited longest are ended, and a browser is answered")
    func tooMany() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let (ready, readying) = AsyncStream.makeStream(of: String.self)
            let server = QuickLookServer(engine)
            let serving = Task { try await server.run { readying.yield($0) } }
            var iterator = ready.makeAsyncIterator()
            let address = try #require(await iterator.next())
            let port = UInt16(try #require(URLComponents(string: address)?.port))
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // It waits in the kernel for what the threads of the pool do.
                Thread.detachNewThread { continuation.resume(with: Result { try Self.connectTooOften(address, port) }) }
            }
            serving.cancel()
            try await serving.value
        }
    }

    private static func connectTooOften(_ address: String, _ port: UInt16) throws {
        let more = 16
        var waiting: [pollfd] = []
        for number in 0..<(QuickLookServer.maximumIdleConnections + more) {
            let descriptor = try RawBrowser.connect(port)
            waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            // Nothing, or half a request.
            if number.isMultiple(of: 2) { #expect(send(descriptor, "GET /", 5, Int32(MSG_NOSIGNAL)) == 5) }
        }
        defer { for one in waiting { close(one.fd) } }
        var ended = 0
        while ended < more {
            try #require(poll(&waiting, nfds_t(waiting.count), -1) > 0)
            for index in waiting.indices where waiting[index].revents != 0 {
                var byte: UInt8 = 0
                #expect(recv(waiting[index].fd, &byte, 1, 0) <= 0)
                ended += 1
            }
            for index in waiting.indices.reversed() where waiting[index].revents != 0 {
                close(waiting.remove(at: index).fd)
            }
        }
        let browser = try RawBrowser(address)
        #expect(try browser.answer("style.css").hasPrefix("HTTP/1.1 200 "))
        browser.close()
    }
}
