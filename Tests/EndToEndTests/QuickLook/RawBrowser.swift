// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import QuickLookServer
import Testing

/// A connection to the page's server with the cookie of its first visit.
final class RawBrowser {
    private var descriptor: Int32
    private let port: UInt16
    private let cookie: String
    /// The folder of the session, between slashes.
    let folder: String

    /// The error for a first visit that returned no cookie.
    struct Refused: Error {
        var answer: String
    }

    /// Visits a page for the first time, with the code of an invitation.
    convenience init(_ invitation: QuickLookServer.Invitation) throws {
        try self.init(invitation.address, code: invitation.code)
    }

    /// Visits a page for the first time, like a browser that opens the file of the command.
    convenience init(file path: String) throws {
        let form = try HandOverForm(path)
        try self.init(form.address, code: form.code)
    }

    init(_ address: String, code: String) throws {
        port = UInt16(try #require(URLComponents(string: address)?.port))
        let first = try Self.connect(port)
        defer { Glibc.close(first) }
        let form = "code=\(code)"
        try Self.write(
            first,
            """
            POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nOrigin: null\r\nSec-Fetch-Site: cross-site\r\n\
            Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)
            """)
        let welcome = try Self.read(first)
        guard let set = welcome.firstMatch(of: /Set-Cookie: (searchlight=[a-z2-7]+); Path=(\/[a-z2-7]+\/);/) else {
            throw Refused(answer: welcome)
        }
        (cookie, folder) = (String(set.1), String(set.2))
        descriptor = try Self.connect(port)
    }

    private init(_ other: RawBrowser) throws {
        (port, cookie, folder) = (other.port, other.cookie, other.folder)
        descriptor = try Self.connect(port)
    }

    /// Another connection of the same browser.
    func another() throws -> RawBrowser { try RawBrowser(self) }

    deinit { close() }

    /// Sends a request in the session's folder without waiting.
    func send(_ path: String) throws {
        try Self.write(
            descriptor, "GET \(folder + path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n\r\n")
    }

    /// Sends a request and waits for the complete answer.
    func answer(_ path: String) throws -> String {
        try send(path)
        return try Self.read(descriptor)
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Returns a new connection to the server of a port.
    static func connect(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeBytes(of: &address) { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { Glibc.connect(descriptor, $0.baseAddress, length) }
        }
        try #require(result == 0)
        return descriptor
    }

    /// Sends bytes.
    static func write(_ descriptor: Int32, _ text: String) throws {
        let bytes = Array(text.utf8)
        try #require(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    /// Reads one answer.
    static func read(_ descriptor: Int32) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var end = Int.max
        while bytes.count < end {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            try #require(count > 0)
            bytes += buffer[..<count]
            guard end == .max, let header = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let text = String(decoding: bytes[..<header.lowerBound], as: UTF8.self)
            end = header.upperBound + (text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The content of the file that leads a browser to the page.
struct HandOverForm {
    let address: String
    let code: String

    init(_ path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        address = String(try #require(text.firstMatch(of: /action="(http:\/\/127\.0\.0\.1:\d+\/)"/)).1)
        code = String(try #require(text.firstMatch(of: /name="code" value="([a-z2-7]{32})"/)).1)
    }
}
