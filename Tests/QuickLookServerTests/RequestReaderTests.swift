// SPDX-License-Identifier: Apache-2.0
import QuickLookServer
import Testing

@Suite("Requests as they arrive")
struct RequestReaderTests {
    private func step(_ text: String, _ limits: PageLimits = PageLimits()) -> RequestReader.Step {
        var reader = RequestReader(limits)
        reader.receive(Array(text.utf8))
        return reader.next()
    }

    private func status(_ text: String) -> Int? {
        if case .refused(let status, _) = step(text) { status } else { nil }
    }

    private let get =
        "GET /folder/api/search?q=night+f%C3%A9rry&n=1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nCookie:  a=b \r\n\r\n"

    @Test("A request is the same with any division of its bytes")
    func pieces() throws {
        let whole = step(get)
        guard case .request(let request, isLast: false) = whole else {
            Issue.record("\(whole)")
            return
        }
        #expect(request.method == "GET" && request.path == ["folder", "api", "search"])
        #expect(request.arguments == ["q": "night férry", "n": "1"] && request.headers["cookie"] == ["a=b"])
        var reader = RequestReader()
        var count = 0
        for byte in get.utf8 {
            if case .request(let again, _) = reader.next() { Issue.record("\(again) is early") }
            reader.receive([byte])
            count += 1
        }
        guard case .request(let again, isLast: false) = reader.next() else {
            Issue.record("nothing after \(count) bytes")
            return
        }
        #expect(again.path == request.path && again.headers == request.headers && !reader.hasBegun)
    }

    @Test("A form is read up to its length, and the following bytes are the next request")
    func form() {
        var reader = RequestReader()
        let form = "code=ab+c%20d&code=x"
        reader.receive(
            Array(
                """
                POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded; charset=utf-8\r\n\
                Content-Length: \(form.utf8.count)\r\n\r\n\(form)GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n
                """.utf8))
        guard case .request(let first, isLast: false) = reader.next(),
            case .request(let second, isLast: true) = reader.next()
        else {
            Issue.record("they are not read")
            return
        }
        #expect(first.path.isEmpty && first.form == ["code": "ab c d"])
        #expect(second.path == ["x"] && second.form.isEmpty)
    }

    @Test(
        "Ambiguous requests are rejected",
        arguments: [
            // Invalid line endings.
            "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n",
            "GET / HTTP/1.1\rHost: h\r\n\r\n", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n",
            // Two lengths, or an invalid length.
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x1\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \r\n\r\n0",
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n0",
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
            // Two hosts, or none.
            "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nHOST: evil\r\n\r\n",
            "GET / HTTP/1.1\r\nX: h\r\n\r\n",
            // Folded lines and invalid names.
            "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: h\r\n\r\n", "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET / HTTP/1.1\r\n: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX\u{E9}: h\r\n\r\n",
            // Control characters.
            "GET / HTTP/1.1\r\nHost: h\0\r\n\r\n", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\nX: \u{7F}\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nX: \u{1}\r\n\r\n",
            // Invalid request lines.
            "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
            " GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /\tHTTP/1.1\r\nHost: h\r\n\r\n", "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /#x HTTP/1.1\r\nHost: h\r\n\r\n", "GET /\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n",
            "get / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /\r\n\r\n", "GET / http/1.1\r\nHost: h\r\n\r\n", "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
            "\u{16}\u{3}\u{1}", "GET\0",
        ])
    func smuggling(_ text: String) {
        #expect(status(text) == 400, "\(text)")
    }

    @Test("A valid but unsupported request is rejected with its own status")
    func notSpoken() {
        #expect(status("GET / HTTP/1.0\r\nHost: h\r\n\r\n") == 505 && status("GET / HTTP/2\r\nHost: h\r\n\r\n") == 505)
        #expect(status("POST / HTTP/1.1\r\nHost: h\r\n\r\n") == 411)
        #expect(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1025\r\n\r\n") == 413)
        #expect(status("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Type: text/plain\r\n\r\nx") == 415)
        #expect(status("GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n") == 417)
    }

    @Test("Lines, headers and their number are bounded, before they are complete")
    func bounds() {
        let limits = PageLimits()
        #expect(status("GET /" + String(repeating: "x", count: limits.lineBytes)) == 414)
        let head = "GET / HTTP/1.1\r\nHost: h\r\n"
        #expect(status(head + "X: " + String(repeating: "x", count: limits.lineBytes)) == 431)
        #expect(
            status(head + String(repeating: "X: " + String(repeating: "x", count: 1000) + "\r\n", count: 17)) == 431)
        #expect(status(head + String(repeating: "X: 1\r\n", count: limits.headerLines)) == 431)
        #expect(status(head + String(repeating: "X: 1\r\n", count: limits.headerLines - 1)) == nil)
    }

    @Test("Endless bytes take no more memory than a head may have")
    func endless() {
        var reader = RequestReader()
        var received = 0
        let piece = Array(repeating: UInt8(ascii: "x"), count: 4096)
        reader.receive(Array("GET / HTTP/1.1\r\n".utf8))
        while case .incomplete = reader.next() {
            let count = min(piece.count, reader.room)
            reader.receive(piece[..<count])
            received += count
            guard received <= 1 << 20 else {
                Issue.record("a mebibyte is accepted")
                return
            }
        }
        #expect(received <= PageLimits().headBytes + 4096 && !reader.hasBegun)
    }
}
