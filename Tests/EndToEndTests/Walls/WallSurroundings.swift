// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

/// The targets of walls.c: another app's files, and other programs' sockets.
final class WallSurroundings {
    let outside: String
    private let harness: Harness
    private let folder: TemporaryFolder
    private let listeners: [OwnedDescriptor]
    private let ports: [UInt16]

    /// More than any group attempts, each with a separate file.
    private static let count = 80

    init(_ harness: Harness) throws {
        self.harness = harness
        outside = harness.folder + "/config/org.example.other"
        // A socket's path must be short.
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        let local = try StreamSocket.listen(at: folder.path("socket"))
        chmod(folder.path("socket"), 0o777)
        let stream = try Self.open(SOCK_STREAM)
        let datagram = try Self.open(SOCK_DGRAM)
        listeners = [local, stream.socket, datagram.socket]
        ports = [stream.port, datagram.port]
    }

    /// Recreates the files, and writes the name of the group to try for a bundle.
    func prepare(_ group: String, bundle: String) throws {
        try? FileManager.default.removeItem(atPath: outside)
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/.ssh", withIntermediateDirectories: true)
        for number in 0..<Self.count {
            try FileManager.default.createDirectory(
                atPath: outside + "/d\(number)", withIntermediateDirectories: true)
            try Data("secret\n".utf8).write(to: URL(filePath: outside + "/f\(number)"))
            _ = Self.setAttribute?(outside + "/f\(number)", "user.secret", "x", 1, 0)
        }
        for name in [".bashrc", ".ssh/id_ed25519", "config/user-dirs.dirs"] {
            try Data("\n".utf8).write(to: URL(filePath: harness.folder + "/" + name))
        }
        let words =
            [group, harness.folder, outside, folder.path("socket")] + ports.map { "\($0)" }
            + [Self.address(AF_INET), Self.address(AF_INET6)]
        try Data((words.joined(separator: " ") + "\n").utf8)
            .write(to: URL(filePath: harness.marks + "/\(bundle).searchext.target"))
    }

    /// Returns `true` if all files of the other app exist unchanged.
    func isUntouched() -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: outside)) ?? []
        return names.count == 2 * Self.count
            && (0..<Self.count).allSatisfy { number in
                (try? String(contentsOfFile: outside + "/f\(number)", encoding: .utf8)) == "secret\n"
            }
    }

    /// The C library's `setxattr`, which Swift does not import.
    private static let setAttribute = unsafeBitCast(
        dlsym(nil, "setxattr"),
        to: (@convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32)?.self)

    /// Opens a socket on all addresses of the machine, for both address families.
    private static func open(_ type: __socket_type) throws -> (socket: OwnedDescriptor, port: UInt16) {
        let number = socket(AF_INET6, Int32(type.rawValue), 0)
        try #require(number >= 0)
        let descriptor = OwnedDescriptor(adopting: number)
        var both: Int32 = 0
        setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &both, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 && (type != SOCK_STREAM || listen(number, 128) == 0)
                    ? getsockname(number, $0, &length) : -1
            }
        }
        try #require(result == 0)
        return (descriptor, UInt16(bigEndian: address.sin6_port))
    }

    /// Returns an address of this machine other than loopback; “-” if there is none.
    private static func address(_ family: Int32) -> String {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return "-" }
        defer { freeifaddrs(first) }
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == family else { continue }
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            var text = [CChar](repeating: 0, count: 64)
            guard getnameinfo(address, socklen_t(size), &text, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !name.hasPrefix("127."), name != "::1", !name.hasPrefix("fe80") { return name }
        }
        return "-"
    }
}
