// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads the requests of one connection, strictly and within bounds, from bytes as they arrive.
///
/// A subset of HTTP/1.1 that two readers cannot understand differently: lines end in CR LF, nothing is folded, a request
/// names one host, and the length of a body is said by one `Content-Length`. Everything else is refused.
package struct RequestReader: Sendable {
    /// What the bytes so far are.
    package enum Step: Sendable {
        /// More is needed.
        case incomplete
        /// A request; after the last one the connection is to be closed.
        case request(PageRequest, isLast: Bool)
        /// No request. The connection is to be closed.
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
    /// Where the line begins that is being read.
    private var start = 0
    /// Up to where bytes were checked.
    private var checked = 0
    private var head: Head?
    /// The length of the body, once the head is whole.
    private var bodyLength: Int?

    /// Creates a reader for a new connection.
    package init(_ limits: PageLimits = PageLimits()) { self.limits = limits }

    package var hasBegun: Bool { !buffer.isEmpty }
    /// The most bytes that are taken before ``next()`` is called, at least 1.
    package var room: Int { max(1, limits.headBytes + limits.bodyBytes - buffer.count) }

    /// Takes bytes that have arrived.
    package mutating func receive(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// The next request. After a refusal nothing else may be asked.
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

    /// The next line without its end; `nil` if it is not whole.
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
                throw Refusal(reason: "A control character is no part of a request.")
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
        guard parts.count == 3 else { throw Refusal(reason: "The first line is no request.") }
        let (method, target, version) = (parts[0], parts[1], parts[2])
        guard (1...16).contains(method.count), method.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw Refusal(reason: "The first line names no method.")
        }
        guard target.first == UInt8(ascii: "/"), target.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }) else {
            throw Refusal(reason: "The first line names no path.")
        }
        guard version.elementsEqual("HTTP/1.1".utf8) else {
            throw version.starts(with: "HTTP/".utf8)
                ? Refusal(status: 505, reason: "Only HTTP/1.1 is spoken.")
                : Refusal(reason: "The first line names no version.")
        }
        return Head(method: String(decoding: method, as: UTF8.self), target: String(decoding: target, as: UTF8.self))
    }

    private mutating func takeHeader(_ line: ArraySlice<UInt8>) throws(Refusal) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isOfName)
        else { throw Refusal(reason: "A line is no header.") }
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

    /// Whether a byte may be in the name of a header.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    // MARK: The whole

    private mutating func finishHead() throws(Refusal) {
        guard let head else { return }
        guard head.headers["host"]?.count == 1 else { throw Refusal(reason: "A request names one host.") }
        guard head.headers["transfer-encoding"] == nil else {
            throw Refusal(reason: "A body is sent with its length, not in chunks.")
        }
        guard head.headers["expect"] == nil else {
            throw Refusal(status: 417, reason: "Nothing is confirmed in advance.")
        }
        let lengths = head.headers["content-length"] ?? []
        guard lengths.count <= 1,
            lengths.allSatisfy({ text in
                (1...10).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { throw Refusal(reason: "The length of the body is no number.") }
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
            throw Refusal(status: 415, reason: "Only a form may be sent.")
        }
        return PageRequest.arguments(in: String(decoding: body, as: UTF8.self))
    }
}

extension PageRequest {
    /// A request whose head was checked.
    fileprivate init(_ head: RequestReader.Head, form: [String: String]) {
        let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // As it was sent: what stands for a slash is none here.
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        self.init(
            method: head.method, path: path == [""] ? [] : path.map(String.init),
            arguments: parts.count == 2 ? Self.arguments(in: String(parts[1])) : [:], form: form, headers: head.headers)
    }

    /// Arguments as a form's or a script's `URLSearchParams` are written.
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
