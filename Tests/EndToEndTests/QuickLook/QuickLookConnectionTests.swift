// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// The effect of connections from other local programs on the page's server.
@Suite("Connections to the page's server", .timeLimit(.minutes(10)), .serialized)
struct QuickLookConnectionTests {
    /// Many connections that send endless headers. Each connection is reopened when it is closed.
    private final class Flood {
        private let port: UInt16
        private var connections: [Int32] = []
        private let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        private(set) var sent = 0

        init(_ port: UInt16, _ count: Int) throws {
            self.port = port
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)  // RLIMIT_NOFILE
            limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 4096))
            setrlimit(__rlimit_resource_t(7), &limit)
            for _ in 0..<count { connections.append(try open()) }
        }

        deinit { for connection in connections { close(connection) } }

        private func open() throws -> Int32 {
            let connection = try RawBrowser.connect(port)
            let head = Array("GET / HTTP/1.1\r\nX: ".utf8)
            _ = send(connection, head, head.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            return connection
        }

        /// Sends as much as possible over each connection.
        func go() throws {
            for index in connections.indices {
                let count = send(connections[index], piece, piece.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                if count > 0 { sent += count }
                if count < 0, errno != EAGAIN {
                    close(connections[index])
                    connections[index] = try open()
                }
            }
        }
    }

    @Test("A thousand connections that send endless headers use no memory, and the browser is served")
    func flood() async throws {
        let served = try ServedCommand(try Command.indexed(), "--no-open")
        let browser = try RawBrowser(file: served.file)
        #expect(try browser.answer("style.css").hasPrefix("HTTP/1.1 200 "))
        let before = try served.peakMemory()
        let flood = try Flood(try served.port, 1000)
        for _ in 0..<20 {
            try flood.go()
            #expect(try browser.answer("api/search?q=beta").hasPrefix("HTTP/1.1 200 "))
        }
        // Fewer than the available slots, so that no connection is dropped.
        let few = try Flood(try served.port, 48)
        while few.sent < 256 << 20 { try few.go() }
        #expect(try browser.answer("api/search?q=beta").hasPrefix("HTTP/1.1 200 "))
        let another = try browser.another()
        #expect(try another.answer("style.css").hasPrefix("HTTP/1.1 200 "))
        let growth = try served.peakMemory() - before
        #expect(growth < 16 << 10, "\(growth) KiB for \((flood.sent + few.sent) >> 20) MiB")
        let (ending, time) = served.end()
        #expect(ending == .exited(0) && time < .seconds(1), "\(ending) after \(time)")
    }

    @Test("It ends within a second with any open connections", arguments: [SIGTERM, SIGINT, SIGHUP])
    func ends(signal: Int32) throws {
        let served = try ServedCommand(try Command.indexed(), "--no-open")
        let browser = try RawBrowser(file: served.file)
        var open: [Int32] = []
        defer { for one in open { close(one) } }
        for text in [
            "", "GET /", "GET / HTTP/1.1\r\nHost: h\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n",
        ] {
            open.append(try RawBrowser.connect(try served.port))
            try RawBrowser.write(open[open.count - 1], text)
        }
        // An answer of 3 MiB that the client does not read.
        let found = try browser.answer("api/search?q=beta")
        let number = try #require(found.firstMatch(of: /"id":"(\d+)"/)?.1)
        try browser.send("promise/\(number)?type=public.html")
        let (ending, time) = served.end(signal)
        #expect(ending == .exited(0) && time < .seconds(1), "\(ending) after \(time)")
    }

    @Test("It ends within a second while an extension renders a preview and ignores cancellations")
    func endsWhileRendering() throws {
        let command = Command(harness: try Harness())
        let bundle = try command.harness.installFixture("by-name")
        let lines = command.harness.folder + "/lines"
        let line = #"{"uniqueIdentifier":"stubborn-1","attributes":{"title":"stubborn-1"}}"#
        try Data(line.utf8).write(to: URL(filePath: lines))
        let (status, output) = try command("donate", lines, "--bundle", bundle)
        try #require(status == 0, "\(output)")
        let served = try ServedCommand(command, "--no-open")
        let browser = try RawBrowser(file: served.file)
        let found = try browser.answer("api/search?q=stubborn")
        let number = try #require(found.firstMatch(of: /"id":"(\d+)"/)?.1)
        try browser.send("api/preview/\(number)")
        while try !Self.hasStubbornChild(served.process.identifier) {}
        let (ending, time) = served.end()
        #expect(ending == .exited(0) && time < .seconds(1), "\(ending) after \(time)")
    }

    /// Returns `true` if a process has a child that ignores SIGTERM, as the extension does after
    /// that point.
    private static func hasStubbornChild(_ process: pid_t) throws -> Bool {
        let threads = "/proc/\(process)/task"
        let children = try FileManager.default.contentsOfDirectory(atPath: threads).flatMap { thread in
            let text = try? String(contentsOfFile: "\(threads)/\(thread)/children", encoding: .utf8)
            return text?.split(separator: " ") ?? []
        }
        return children.contains { child in
            let status = (try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)) ?? ""
            let ignored = status.firstMatch(of: /SigIgn:\s+([0-9a-f]+)/).flatMap { UInt64($0.1, radix: 16) } ?? 0
            return ignored & 1 << (UInt64(SIGTERM) - 1) != 0
        }
    }
}
