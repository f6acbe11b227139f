// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import ItemRecord
import Previews
import QuickLookServer
import SearchIndex
import SearchlightEngine

/// Measures the time until the user sees a preview of an item.
struct PreviewBenchmarks {
    let folder: String
    /// The path of Journal's library; nil to leave Journal out.
    let journal: String?

    private static let calls = 200
    /// The size of the rendered page in bytes. A 100 KB note has about this size as HTML.
    private static let pageBytes = 100_000

    func run() async throws -> [Measurement] {
        let place = folder + "/previews"
        try? FileManager.default.removeItem(atPath: place)
        let page = Self.page()
        let extensions = try MeasuredExtensions(folder: place)
        var measurements = try await served(page, extensions, place)
        if let journal {
            measurements += try await JournalBenchmark(library: journal, folder: URL(filePath: place).path + "/journal")
                .run(extensions.configuration)
        }
        return measurements + (try Self.sanitised(page))
    }

    // MARK: From the extension to the browser

    /// Measures a sanitized 100 KB preview from a running worker, up to its first byte over HTTP.
    /// The baseline is the page's script: a connection, a request and an answer without a preview.
    private func served(
        _ page: [UInt8], _ extensions: MeasuredExtensions, _ place: String
    ) async throws -> [Measurement] {
        try Data(page).write(to: URL(filePath: extensions.folder + "/\(extensions.c).searchext/page"))
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: place + "/store", access: .readWrite, extensionSearchPath: [extensions.folder],
                worker: extensions.configuration))
        var batch = IndexBatch(scope: IndexScope(bundle: extensions.c))
        batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "note", attributes: ["title": .string("A note")]))])
        try await engine.commit(batch)
        try await engine.settle()
        let number = try await engine.item(named: "note").number
        let measurements = try await Self.measured(
            engine, "preview/\(number)/content?q=ferry", "100 KB of HTML")
        await engine.close()
        return measurements
    }

    /// Measures the time to the first byte of a preview over HTTP, with the page's script as the
    /// baseline. The engine stays open.
    static func measured(
        _ engine: SearchlightEngine, _ path: String, _ what: String
    ) async throws -> [Measurement] {
        let (invitations, ready) = AsyncStream.makeStream(of: QuickLookServer.Invitation.self)
        let server = QuickLookServer(engine)
        let serving = Task { try await server.run { ready.yield($0) } }
        var iterator = invitations.makeAsyncIterator()
        guard let invitation = await iterator.next() else { throw BenchmarkError("The page is not served.") }
        let browser = try MeasuredBrowser(invitation)
        var (previews, baselines): ([Double], [Double]) = ([], [])
        for call in 0..<(Self.calls + 20) {
            let (preview, bytes) = try browser.milliseconds(to: path)
            let (baseline, _) = try browser.milliseconds(to: "script.js")
            guard bytes > Self.pageBytes else { throw BenchmarkError("The preview has \(bytes) bytes only.") }
            // The first calls are warm-up.
            guard call >= 20 else { continue }
            previews.append(preview)
            baselines.append(baseline)
        }
        serving.cancel()
        try await serving.value
        let (times, bare) = (Percentiles(previews), Percentiles(baselines))
        return [
            Measurement(
                name: "warm preview of \(what) to its first byte over HTTP, p50", value: times.p50, unit: "ms",
                baseline: "the page's script", baselineValue: bare.p50, row: .firstByte),
            Measurement(
                name: "warm preview of \(what) to its first byte over HTTP, p95", value: times.p95, unit: "ms",
                baseline: "the page's script",
                baselineValue: bare.p95, row: .firstByte),
        ]
    }

    // MARK: The sanitiser

    /// Measures the throughput of the HTML sanitizer, with copying as the baseline.
    private static func sanitised(_ page: [UInt8]) throws -> [Measurement] {
        let sanitizer = HTMLSanitizer(attachments: [], highlighter: Highlighter(query: "ferry"))
        var (written, copied): ([Double], [Double]) = ([], [])
        for _ in 0..<50 {
            let cost = try ProcessCost.measure { blackHole(try sanitizer.page(page[...], isCancelled: { false }).html) }
            written.append(Double(page.count) / cost.wall / 1e6)
            var (source, target) = (page, page)
            let copy = ProcessCost.measure {
                for round in 0..<100 {
                    // Changes a byte in each round, so that the optimizer cannot remove a copy.
                    source[round] &+= target[round + 1]
                    target.withUnsafeMutableBytes { to in source.withUnsafeBytes { to.copyMemory(from: $0) } }
                }
            }
            blackHole(target.reduce(0, &+))
            copied.append(Double(page.count) * 100 / copy.wall / 1e6)
        }
        return [
            Measurement(
                name: "HTML sanitized and highlighted", value: Percentiles(written).p50, unit: "MB/s",
                baseline: "a copy", baselineValue: Percentiles(copied).p50)
        ]
    }

    /// Returns a page like the preview of a Markdown note.
    private static func page() -> [UInt8] {
        var text = "<html><head><style>p { margin: 1em }</style></head><body><h1>A note</h1>\n"
        var line = 0
        while text.utf8.count < pageBytes {
            line += 1
            text += """
                <h2>Part \(line)</h2><p>The <strong>night ferry</strong> leaves at 22:40 from the old pier &amp; reaches the \
                <em>outer</em> islands at dawn; see the <a href="https://example.org/\(line)">timetable</a>.</p>
                <ul><li>a warm coat, since the deck is windy</li><li><code>42</code> coins</li></ul>

                """
        }
        return Array((text + "</body></html>").utf8)
    }
}

/// A minimal browser for the measurements: a persistent connection and a cookie.
final class MeasuredBrowser {
    private var descriptor: Int32
    private let port: UInt16
    private var cookie = ""
    private var session = ""

    /// Opens the page with the code of the invitation. The server closes the connection of that
    /// request.
    init(_ invitation: QuickLookServer.Invitation) throws {
        guard let port = URLComponents(string: invitation.address)?.port else {
            throw BenchmarkError("\(invitation.address) is not an address.")
        }
        self.port = UInt16(port)
        descriptor = try Self.connected(self.port)
        let form = "code=\(invitation.code)"
        let welcome = try exchange(
            """
            POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/x-www-form-urlencoded\r\n\
            Content-Length: \(form.utf8.count)\r\n\r\n\(form)
            """
        ).header
        guard let set = welcome.firstMatch(of: /Set-Cookie: (searchlight=[a-z2-7]+); Path=(\/[a-z2-7]+\/);/) else {
            throw BenchmarkError("The first visit got no cookie.")
        }
        (cookie, session) = (String(set.1), String(set.2))
        close(descriptor)
        descriptor = try Self.connected(self.port)
    }

    private static func connected(_ port: UInt16) throws -> Int32 {
        // The values of SOCK_STREAM and SOCK_CLOEXEC, because an optimized build of this module
        // does not find the constants.
        let descriptor = socket(AF_INET, 1 | 0o2_000_000, 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &place) { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) {
                connect(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw BenchmarkError("Connecting to port \(port) failed.") }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Returns the time until the first byte of a page, and the page's size in bytes.
    func milliseconds(to path: String) throws -> (time: Double, bytes: Int) {
        let answer = try exchange(
            "GET \(session + path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n\r\n")
        guard answer.header.hasPrefix("HTTP/1.1 200 ") else { throw BenchmarkError("\(path): \(answer.header)") }
        return (answer.first, answer.bytes)
    }

    private func exchange(_ text: String) throws -> (header: String, first: Double, bytes: Int) {
        let start = ContinuousClock.now
        guard text.withCString({ send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }) == text.utf8.count else {
            throw BenchmarkError("Sending a request failed.")
        }
        var (bytes, first, end, length): ([UInt8], Double?, Int, Int) = ([], nil, 0, .max)
        var header = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count - end < length {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw BenchmarkError("The connection ended.") }
            if first == nil { first = (ContinuousClock.now - start) / .milliseconds(1) }
            bytes += buffer[..<count]
            guard header.isEmpty, let place = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            (header, end) = (String(decoding: bytes[..<place.upperBound], as: UTF8.self), place.upperBound)
            length = header.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        }
        return (header, first ?? 0, length)
    }
}
