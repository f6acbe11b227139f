// SPDX-License-Identifier: Apache-2.0
import CSystem
import CSystemd
import Glibc
import SystemSupport

/// The connection to a message bus with an authentication in single steps.
///
/// sd-bus sends the whole authentication and its first message at once. The proxy of a Flatpak
/// sandbox (`xdg-dbus-proxy`, at least 0.1.4) then takes the replies for messages, and disconnects.
/// So this type connects and authenticates. sd-bus authenticates over a pair of sockets, whose end
/// is replaced with the real socket before sd-bus sends its first message. Confined to the
/// connection's thread.
struct BusHandshake {
    private let socket: OwnedDescriptor
    /// This type's end of the pair.
    private let near: OwnedDescriptor
    /// The end that sd-bus has, and closes.
    private let far: Int32

    /// The maximum size of a line or of sd-bus's own authentication, in bytes.
    private static let maximumBytes = 4096
    /// The time limit for the bus, in milliseconds.
    private static let patience: UInt64 = 10_000
    /// The time between two looks whether the connection is still wanted, in milliseconds.
    private static let moment: UInt64 = 100
    private static let maximumLines = 8
    private static let operation = "starting the connection"

    /// Connects to a bus, and gives sd-bus a socket.
    ///
    /// - Returns: `nil` if the address is not only of Unix sockets. sd-bus can then connect itself.
    /// - Throws: ``BusError/system(operation:code:)``, for example if nothing listens.
    static func begin(_ address: String, for bus: OpaquePointer) throws(BusError) -> BusHandshake? {
        guard let paths = socketPaths(in: address) else { return nil }
        let socket = try connected(to: paths)
        var pair: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw failure(errno) }
        let near = OwnedDescriptor(adopting: pair[0])
        let taken = sd_bus_set_fd(bus, pair[1], pair[1])
        if taken < 0 { close(pair[1]) }
        try BusMessage.check(taken, "setting the socket")
        return BusHandshake(socket: socket, near: near, far: pair[1])
    }

    private init(socket: OwnedDescriptor, near: OwnedDescriptor, far: Int32) {
        (self.socket, self.near, self.far) = (socket, near, far)
    }

    /// Authenticates on the bus, and then sd-bus on its pair. Call it after `sd_bus_start`.
    ///
    /// - Parameter isClosed: Returns `true` if the connection is no longer wanted.
    /// - Throws: ``BusError``; ``BusError/disconnected`` if the connection is no longer wanted.
    func finish(_ bus: OpaquePointer, isClosed: () -> Bool) throws(BusError) {
        let (identifier, passesDescriptors) = try authenticate(isClosed)
        let reply = try reply(identifier, passesDescriptors)
        try Self.send(Array(reply.utf8), to: near)
        // sd-bus reads the whole reply in one step, and sends its first message only in the next.
        try BusMessage.check(sd_bus_process(bus, nil), Self.operation)
        try Self.send(try Self.waiting(near), to: socket)
        guard csystem_replace(socket.number, far) >= 0 else { throw Self.failure(errno) }
    }

    // MARK: Authentication

    /// Authenticates on the bus as the user of this process.
    ///
    /// - Returns: The identifier of the bus, and `true` if it passes descriptors.
    private func authenticate(
        _ isClosed: () -> Bool
    ) throws(BusError) -> (identifier: String, passesDescriptors: Bool) {
        // Without a user number, as in sd-bus: the bus takes the user of the socket.
        try Self.send([0] + Array("AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\n".utf8), to: socket)
        let deadline = BusKernel.monotonicMicroseconds() + Self.patience * 1000
        var identifier: String?
        // A bus sends three lines.
        for _ in 0..<Self.maximumLines {
            let words = try line(until: deadline, isClosed).split(separator: " ")
            switch words.first {
            case "DATA": continue
            case "OK" where words.count == 2 && identifier == nil: identifier = String(words[1])
            case "AGREE_UNIX_FD", "ERROR":
                guard let identifier else { throw Self.failure(EPROTO) }
                try Self.send(Array("BEGIN\r\n".utf8), to: socket)
                return (identifier, words.first == "AGREE_UNIX_FD")
            case "REJECTED": throw Self.failure(EPERM)
            default: throw Self.failure(EPROTO)
            }
        }
        throw Self.failure(EPROTO)
    }

    /// Returns the reply to sd-bus's own authentication.
    private func reply(_ identifier: String, _ passesDescriptors: Bool) throws(BusError) -> String {
        let sent = String(decoding: try Self.waiting(near).drop { $0 == 0 }, as: UTF8.self)
        var reply = ""
        for line in sent.split(separator: "\r\n") {
            switch line {
            case "AUTH EXTERNAL": reply += "DATA\r\n"
            case "NEGOTIATE_UNIX_FD": reply += passesDescriptors ? "AGREE_UNIX_FD\r\n" : "ERROR\r\n"
            case "BEGIN": return reply
            // The user number, with the first line or after it.
            default: reply += "OK \(identifier)\r\n"
            }
        }
        throw Self.failure(EPROTO)
    }

    /// Reads a line. Byte by byte, because messages may follow the last one.
    private func line(until deadline: UInt64, _ isClosed: () -> Bool) throws(BusError) -> String {
        var bytes: [UInt8] = []
        while bytes.count < Self.maximumBytes {
            var byte: UInt8 = 0
            let count = recv(socket.number, &byte, 1, 0)
            if count == 0 { throw .disconnected }
            if count < 0 {
                guard errno == EAGAIN || errno == EINTR else { throw Self.failure(errno) }
                if isClosed() { throw .disconnected }
                try wait(until: deadline)
                continue
            }
            bytes.append(byte)
            if bytes.suffix(2) == [0x0D, 0x0A] { return String(decoding: bytes.dropLast(2), as: UTF8.self) }
        }
        throw Self.failure(EPROTO)
    }

    /// Waits a moment for bytes.
    private func wait(until deadline: UInt64) throws(BusError) {
        let now = BusKernel.monotonicMicroseconds()
        guard now < deadline else { throw Self.failure(ETIMEDOUT) }
        var descriptors = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptors, 1, Int32(clamping: min(Self.moment, (deadline - now) / 1000 + 1)))
    }

    /// Returns the bytes that a socket has received.
    private static func waiting(_ socket: OwnedDescriptor) throws(BusError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = recv(socket.number, &bytes, maximumBytes, 0)
        if count < 0 {
            guard errno == EAGAIN else { throw failure(errno) }
            return []
        }
        return Array(bytes[..<count])
    }

    /// Sends few bytes over a socket that has room for them.
    private static func send(_ bytes: [UInt8], to socket: OwnedDescriptor) throws(BusError) {
        guard !bytes.isEmpty else { return }
        let count = Glibc.send(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else { throw count < 0 && errno == EPIPE ? .disconnected : failure(errno) }
    }

    private static func failure(_ code: Int32) -> BusError { .system(operation: operation, code: code) }

    // MARK: Address

    private static func connected(to paths: [[UInt8]]) throws(BusError) -> OwnedDescriptor {
        var code = ENOENT
        for path in paths {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let number = Glibc.socket(AF_UNIX, type, 0)
            guard number >= 0 else { throw failure(errno) }
            let socket = OwnedDescriptor(adopting: number)
            // Limits the time to wait for a place in the queue of a bus that accepts nothing.
            var limit = timeval(tv_sec: Int(patience / 1000), tv_usec: 0)
            setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if withSocketAddress(path, { connect(number, $0, $1) }) == 0 {
                _ = fcntl(number, F_SETFL, O_NONBLOCK)
                return socket
            }
            code = errno
        }
        throw failure(code)
    }

    /// Returns the paths of the sockets in an address; an abstract name starts with a zero byte.
    /// `nil` if there are other transports.
    static func socketPaths(in address: String) -> [[UInt8]]? {
        var paths: [[UInt8]] = []
        for entry in address.split(separator: ";") {
            guard entry.hasPrefix("unix:") else { return nil }
            var path: [UInt8]?
            for part in entry.dropFirst("unix:".count).split(separator: ",") {
                let pair = part.split(separator: "=", maxSplits: 1)
                guard pair.count == 2, let value = unescaped(pair[1]), !value.contains(0) else { return nil }
                switch pair[0] {
                case "path": path = value
                case "abstract": path = [0] + value
                case "guid": break
                default: return nil
                }
            }
            guard let path, path.count < SocketPlace.maximumAddress else { return nil }
            paths.append(path)
        }
        return paths.isEmpty ? nil : paths
    }

    private static func unescaped(_ text: Substring) -> [UInt8]? {
        var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text.utf8)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard rest.count >= 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
