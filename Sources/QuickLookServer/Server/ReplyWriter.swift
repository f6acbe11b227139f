// SPDX-License-Identifier: Apache-2.0
import Glibc
import Promises
import SystemSupport

/// Writes one reply to a connection. Blocks its thread until the reply is written, the browser has
/// closed the connection, or the server stops.
struct ReplyWriter {
    /// The non-blocking connection.
    let connection: OwnedDescriptor
    /// A socket that hangs up when the server stops.
    let end: OwnedDescriptor

    /// The number of bytes of a stream that are in memory at a time.
    static let chunk = 256 << 10

    /// Returns the status line and headers of a reply.
    static func head(of reply: PageReply, isLast: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(reply.status) \(phrases[reply.status] ?? "Status")\r\n"
        for (name, value) in reply.headers.sorted(by: { $0.key < $1.key }) {
            // A header may contain a name from an extension.
            let safe = value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
            text += "\(name): \(String(String.UnicodeScalarView(safe)))\r\n"
        }
        let length =
            switch reply.body {
            case .bytes(let bytes): UInt64(bytes.count)
            case .stream(_, let length): length
            }
        text += "Content-Length: \(length)\r\nConnection: \(isLast ? "close" : "keep-alive")\r\n\r\n"
        return Array(text.utf8)
    }

    private static let phrases = [
        200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed",
        431: "Request Header Fields Too Large", 499: "Cancelled", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]

    /// Writes as many bytes as the kernel accepts without blocking.
    ///
    /// - Returns: The number of bytes written; `nil` if the browser has closed the connection.
    static func sendNow(_ bytes: ArraySlice<UInt8>, to connection: Int32) -> Int? {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(
                    connection, buffer.baseAddress.map { $0 + sent }, buffer.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { break }
            guard count > 0 else { return nil }
            sent += count
        }
        return sent
    }

    /// Writes bytes, followed by the bytes of a stream.
    ///
    /// - Returns: `true` if all were written.
    func write(_ bytes: ArraySlice<UInt8>, then body: PageReply.Body?) -> Bool {
        guard write(bytes) else { return false }
        guard case .stream(let descriptor, let length)? = body else { return true }
        var rest = length
        while rest > 0 {
            guard let piece = read(descriptor, upTo: Int(min(rest, UInt64(Self.chunk)))), !piece.isEmpty,
                write(piece[...])
            else { return false }
            rest -= UInt64(piece.count)
        }
        return true
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard let sent = Self.sendNow(rest, to: connection.number) else { return false }
            rest = rest.dropFirst(sent)
            // Without a time limit, because the user may be choosing a folder while the download
            // waits.
            if !rest.isEmpty, !wait(for: connection.number, Int16(POLLOUT), limit: -1) { return false }
        }
        return true
    }

    private func read(_ descriptor: OwnedDescriptor, upTo count: Int) -> [UInt8]? {
        let limit = DeliveryLimits.standardStall.components.seconds * 1000
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            guard wait(for: descriptor.number, Int16(POLLIN), limit: Int32(clamping: limit)) else { return nil }
            let result = Glibc.read(descriptor.number, &bytes, count)
            if result < 0, errno == EINTR || errno == EAGAIN { continue }
            guard result >= 0 else { return nil }
            bytes.removeLast(count - result)
            return bytes
        }
    }

    /// Waits until a descriptor is ready, for at most `limit` milliseconds, or without limit if it
    /// is negative.
    ///
    /// - Returns: `false` at the time limit, if the browser has closed the connection, or if the
    ///   server stops.
    private func wait(for descriptor: Int32, _ events: Int16, limit: Int32) -> Bool {
        var waiting = [
            pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: end.number, events: 0, revents: 0),
            pollfd(fd: connection.number, events: PageLoop.hasGone, revents: 0),
        ]
        while true {
            let count = poll(&waiting, nfds_t(waiting.count), limit)
            if count < 0, errno == EINTR { continue }
            guard count > 0, waiting[1].revents == 0, waiting[2].revents == 0 else { return false }
            return true
        }
    }
}
