// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A strict and bounded reader for the requests on one connection.
///
/// It accepts a subset of HTTP/1.1 that different parsers cannot interpret differently: lines end
/// in CR LF, no header is folded, a request has exactly one `Host`, and a single `Content-Length`
/// gives the length of a body. It rejects everything else.
package struct RequestReader: Sendable {
    /// The result of parsing the bytes received so far.
    package enum Step: Sendable {
        /// More bytes are needed.
        case incomplete
        /// A request. After the last request, the connection must be closed.
        case request(PageRequest, isLast: Bool)
        /// The bytes are not a valid request. The connection must be closed.
        case refused(status: Int, reason: String)
    }

    private struct Refusal: Error {
        var status = 400
        var reason: String
    }

    fileprivate struct Head {
        var method: String
        var target: String
        var headers: [String: [String]] = [:]
        var lines = 0
    }

    private let limits: PageLimits
    private var buffer: [UInt8] = []
    /// The start of the current line.
    private var start = 0
    /// The end of the checked bytes.
    private var checked = 0
    private var head: Head?
    /// The length of the body; `nil` until the head is complete.
    private var bodyLength: Int?

    /// Creates a reader for a new connection.
    package init(_ limits: PageLimits = PageLimits()) { self.limits = limits }

    package var hasBegun: Bool { !buffer.isEmpty }
    /// The maximum number of bytes to receive before ``next()`` is called; at least 1.
    package var room: Int { max(1, limits.headBytes + limits.bodyBytes - buffer.count) }

    /// Appends received bytes.
    package mutating func receive(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Returns the next request. Must not be called again after a rejection.
    package mutating func next() -> Step {
        do throws(Refusal) {
            while bodyLength == nil {
                guard let line = try nextLine() else { return .incomplete }
                try take(line)
            }
            guard let head, let bodyLength, buffer.count - start >= bodyLength else { return .incomplete }
            let form = try Self.form(buffer[start..<(start + bodyLength)], of: head)
            let isLast = (head.headers["connection"] ?? []).contains { value in
                value.lowercased().split(whereSeparator: { ", \t".contains($0) }).contains("close")
            }
            let request = PageRequest(head, form: form)
            buffer.removeFirst(start + bodyLength)
            (start, checked, self.head, self.bodyLength) = (0, 0, nil, nil)
            return .request(request, isLast: isLast)
        } catch {
            buffer = []
            return .refused(status: error.status, reason: error.reason)
        }
    }

    // MARK: Lines

    /// Returns the next line without its terminator; `nil` if it is incomplete.
    private mutating func nextLine() throws(Refusal) -> ArraySlice<UInt8>? {
        while checked < buffer.count {
            let byte = buffer[checked]
            let isAfterReturn = checked > start && buffer[checked - 1] == Self.carriageReturn
            guard checked - start <= limits.lineBytes else {
                throw head == nil
                    ? Refusal(status: 414, reason: "The address is too long.")
                    : Refusal(status: 431, reason: "A header is too long.")
            }
            guard checked < limits.headBytes else {
                throw Refusal(status: 431, reason: "The headers are too long.")
            }
            guard isAfterReturn == (byte == Self.lineFeed) else {
                throw Refusal(reason: "A line does not end in CR LF.")
            }
            guard byte >= 0x20 && byte != 0x7F || [Self.carriageReturn, Self.lineFeed, Self.tab].contains(byte) else {
                throw Refusal(reason: "The request has a control character.")
            }
            checked += 1
            if byte == Self.lineFeed {
                defer { start = checked }
                return buffer[start..<(checked - 2)]
            }
        }
        return nil
    }

    private static let (carriageReturn, lineFeed, tab) = (UInt8(0x0D), UInt8(0x0A), UInt8(0x09))

    private mutating func take(_ line: ArraySlice<UInt8>) throws(Refusal) {
        guard head != nil else {
            head = try Self.requestLine(line)
            return
        }
        guard line.isEmpty else { return try takeHeader(line) }
        try finishHead()
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(Refusal) -> Head {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Refusal(reason: "The first line is not a request.") }
        let (method, target, version) = (parts[0], parts[1], parts[2])
        guard (1...16).contains(method.count), method.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Refusal(reason: "The first line has no method.")
        }
        guard target.first == UInt8(ascii: "/"), target.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }) else {
            throw Refusal(reason: "The first line has no path.")
        }
        guard version.elementsEqual("HTTP/1.1".utf8) else {
            throw version.starts(with: "HTTP/".utf8)
                ? Refusal(status: 505, reason: "Only HTTP/1.1 is spoken.")
                : Refusal(reason: "The first line has no version.")
        }
        return Head(method: String(decoding: method, as: UTF8.self), target: String(decoding: target, as: UTF8.self))
    }

    private mutating func takeHeader(_ line: ArraySlice<UInt8>) throws(Refusal) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isOfName)
        else { throw Refusal(reason: "A line is not a header.") }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == Self.tab }
        let value = line[(colon + 1)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        head?.lines += 1
        guard let head, head.lines <= limits.headerLines else {
            throw Refusal(status: 431, reason: "There are too many headers.")
        }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        self.head?.headers[name, default: []].append(String(decoding: value[..<end], as: UTF8.self))
    }

    /// Returns `true` if a byte may be part of a header name.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    // MARK: The whole

    private mutating func finishHead() throws(Refusal) {
        guard let head else { return }
        guard head.headers["host"]?.count == 1 else { throw Refusal(reason: "A request needs exactly one host.") }
        guard head.headers["transfer-encoding"] == nil else {
            throw Refusal(reason: "Send the body with its length, not in chunks.")
        }
        guard head.headers["expect"] == nil else {
            throw Refusal(status: 417, reason: "Expect is not supported.")
        }
        let lengths = head.headers["content-length"] ?? []
        guard lengths.count <= 1,
            lengths.allSatisfy({ text in
                (1...10).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { throw Refusal(reason: "The length of the body is not a number.") }
        let length = lengths.first.flatMap { Int($0) }
        if head.method == "POST" {
            guard let length else { throw Refusal(status: 411, reason: "The length of the body is missing.") }
            guard length <= limits.bodyBytes else { throw Refusal(status: 413, reason: "The body is too long.") }
            bodyLength = length
        } else {
            guard length ?? 0 == 0 else { throw Refusal(reason: "Only POST has a body.") }
            bodyLength = 0
        }
    }

    private static func form(_ body: ArraySlice<UInt8>, of head: Head) throws(Refusal) -> [String: String] {
        guard head.method == "POST" else { return [:] }
        let type = head.headers["content-type"]?.first?.prefix { $0 != ";" } ?? ""
        guard type.lowercased() == "application/x-www-form-urlencoded" else {
            throw Refusal(status: 415, reason: "Send the body as a form.")
        }
        return PageRequest.arguments(in: String(decoding: body, as: UTF8.self))
    }
}

extension PageRequest {
    /// Creates a request from a checked head.
    fileprivate init(_ head: RequestReader.Head, form: [String: String]) {
        let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // The components are not decoded, so that an encoded slash is not a separator.
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        self.init(
            method: head.method, path: path == [""] ? [] : path.map(String.init),
            arguments: parts.count == 2 ? Self.arguments(in: String(parts[1])) : [:], form: form, headers: head.headers)
    }

    /// Parses arguments in the format of forms and `URLSearchParams`.
    fileprivate static func arguments(in text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                String(part).replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count == 2 ? parts[1] : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
