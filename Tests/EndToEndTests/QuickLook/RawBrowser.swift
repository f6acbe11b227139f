// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// A connection to the page's server with the cookie of its first visit.
final class RawBrowser {
    private var descriptor: Int32
    private let port: UInt16
    private let cookie: String
    /// The folder of the session, between slashes.
    let folder: String

    /// The first visit brought no cookie.
    struct Refused: Error {}

    /// Visits an address for the first time.
    init(_ address: String) throws {
        let parts = try #require(URLComponents(string: address))
        port = UInt16(try #require(parts.port))
        descriptor = try Self.connect(port)
        let welcome = try Self.exchange(descriptor, port, "/?" + (parts.query ?? ""), "")
        guard let set = welcome.firstMatch(of: /Set-Cookie: (searchlight=[a-z2-7]+); Path=(\/[a-z2-7]+\/);/) else {
            throw Refused()
        }
        (cookie, folder) = (String(set.1), String(set.2))
    }

    deinit { close() }

    /// Asks for something in the session's folder and waits for nothing.
    func send(_ path: String) throws { try Self.send(descriptor, port, folder + path, cookie) }

    /// Asks for something and waits for all of the answer.
    func answer(_ path: String) throws -> String { try Self.exchange(descriptor, port, folder + path, cookie) }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// A connection to the server of an address, on which nothing was sent.
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

    private static func send(_ descriptor: Int32, _ port: UInt16, _ target: String, _ cookie: String) throws {
        let text = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n\r\n"
        try #require(
            text.withCString { Glibc.send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) } == text.utf8.count)
    }

    private static func exchange(
        _ descriptor: Int32, _ port: UInt16, _ target: String, _ cookie: String
    ) throws -> String {
        try send(descriptor, port, target, cookie)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var end = Int.max
        while bytes.count < end {
            let count = read(descriptor, &buffer, buffer.count)
            try #require(count > 0)
            bytes += buffer[..<count]
            guard end == .max, let header = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let text = String(decoding: bytes[..<header.lowerBound], as: UTF8.self)
            end = header.upperBound + (text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
