// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BusTransport
@testable import SystemSupport

/// A client that writes raw D-Bus bytes, and so can violate the protocol. The other end is a
/// guarded connection.
struct RawPeer {
    let socket: OwnedDescriptor
    let connection: BusConnection
    let ends: AsyncStream<BusEnd>
    /// The descriptors received with calls, and the names of the calls.
    let calls: AsyncStream<IncomingCall>

    static let authentication = Array("\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)

    /// - Parameter first: The bytes sent before the connection begins.
    init(
        limits: BusLimits = BusLimits(), kernel: BusKernel = BusKernel(), room: ReceiveBudget = .shared,
        gate: BusConnection.LargeCallGate? = nil, first: [UInt8] = []
    ) throws {
        let (own, other) = try socketPair()
        socket = own
        if !first.isEmpty { try #require(write(own.number, first, first.count) == first.count) }
        let (ends, ending) = AsyncStream.makeStream(of: BusEnd.self)
        let (calls, calling) = AsyncStream.makeStream(of: IncomingCall.self)
        (self.ends, self.calls) = (ends, calls)
        connection = try BusConnection(
            adopting: other, side: .server, name: "test-guarded", limits: limits, kernel: kernel, room: room,
            gate: gate,
            onCall: { calling.yield($0) },
            onDisconnect: {
                ending.yield($0); ending.finish(); calling.finish()
            })
    }

    /// Sends everything, with descriptors at the first byte. Returns `false` if the other side has
    /// closed the connection.
    @discardableResult
    func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let result = bytes[sent...].withUnsafeBytes { part in
                csystem_send(
                    socket.number, part.baseAddress, part.count, descriptors, sent == 0 ? Int32(descriptors.count) : 0)
            }
            if result > 0 {
                sent += result
            } else if errno == EAGAIN {
                var entry = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else {
                return false
            }
        }
        return true
    }

    func end() async -> BusEnd? {
        for await end in ends { return end }
        return nil
    }

    func nextCall() async -> IncomingCall? {
        for await call in calls { return call }
        return nil
    }

    /// Returns the bytes of a call as sd-bus would send it, little-endian.
    static func call(
        serial: UInt32 = 1, member: String = "Echo", body: [UInt8] = [], signature: String = "",
        descriptors: UInt32? = nil,
        flags: UInt8 = 0
    ) -> [UInt8] {
        var fields: [UInt8] = []
        func pad(_ alignment: Int) { while fields.count % alignment != 0 { fields.append(0) } }
        func text(_ code: UInt8, _ type: Character, _ text: String) {
            pad(8)
            fields += [code, 1, type.asciiValue!, 0]
            fields += word(UInt32(text.utf8.count)) + Array(text.utf8) + [0]
        }
        text(1, "o", "/com/searchlight")
        text(2, "s", "com.searchlight.Test1")
        text(3, "s", member)
        if !signature.isEmpty {
            pad(8)
            fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.utf8.count)] + Array(signature.utf8) + [0]
        }
        if let descriptors {
            pad(8)
            fields += [9, 1, UInt8(ascii: "u"), 0] + word(descriptors)
        }
        let count = fields.count
        pad(8)
        return [UInt8(ascii: "l"), 1, flags, 1] + word(UInt32(body.count)) + word(serial) + word(UInt32(count)) + fields
            + body
    }

    static func word(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    /// The number of this process's descriptors for an open file. Files that other tests opened are
    /// not counted.
    static func descriptors(of file: OwnedDescriptor) -> Int {
        func identity(_ number: Int32) -> [UInt64]? {
            var status = stat()
            guard fstat(number, &status) == 0 else { return nil }
            return [UInt64(status.st_dev), UInt64(status.st_ino)]
        }
        let wanted = identity(file.number)
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { Int32($0) }.filter { identity($0) == wanted }.count
    }

    /// Returns a file to which only one descriptor refers.
    static func file() throws -> OwnedDescriptor {
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        close(pipes[1])
        return OwnedDescriptor(adopting: pipes[0])
    }
}
