// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ServiceProtocol

/// Tells when a browser closes a connection while its request is being answered; the server's package does not, for it reads
/// nothing meanwhile. Also has what is sent leave at once, rather than wait until what was sent before has arrived.
final class ClientWatch {
    private let source: any DispatchSourceRead

    /// So many descriptors are looked at: a server of one page has few.
    private static let maximumDescriptors: Int32 = 1024

    /// Watches the connection of this process to a port of this machine; `nil` if there is none.
    init?(port: UInt16, onClose: @escaping @Sendable () -> Void) {
        guard let connection = Self.connection(to: port) else { return nil }
        var isOn: Int32 = 1
        setsockopt(connection.number, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let source = DispatchSource.makeReadSource(fileDescriptor: connection.number, queue: .global())
        source.setEventHandler {
            var byte: UInt8 = 0
            let count = recv(connection.number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            // The source holds its handler, which holds the source, until here. Another request in advance is no reason to
            // look any further.
            source.cancel()
            if count <= 0 { onClose() }
        }
        source.setCancelHandler { withExtendedLifetime(connection) {} }
        source.activate()
        self.source = source
    }

    /// Looks no more.
    func stop() { source.cancel() }

    /// A descriptor of our own for it, so that its number is not another's when the connection is closed.
    private static func connection(to port: UInt16) -> OwnedDescriptor? {
        for number in 3..<maximumDescriptors where leads(number, to: port) {
            guard let copy = try? OwnedDescriptor(duplicating: number) else { return nil }
            if leads(copy.number, to: port) { return copy }
        }
        return nil
    }

    private static func leads(_ number: Int32, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutableBytes(of: &address) { buffer in
            buffer.withMemoryRebound(to: sockaddr.self) { getpeername(number, $0.baseAddress, &length) }
        }
        return result == 0 && address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == port
    }
}
