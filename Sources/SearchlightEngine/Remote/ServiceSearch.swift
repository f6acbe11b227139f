// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceProtocol

/// Finds the service of a store by its socket.
enum ServiceSearch {
    /// The socket's name in the folder of a store.
    static let socketName = "socket"

    /// Connects to the socket of a store.
    ///
    /// - Returns: `nil` if there is none, or nobody listens at it.
    /// - Throws: ``ServiceProblem``.
    static func connect(storeDirectory: String) throws(ServiceProblem) -> OwnedDescriptor? {
        let path = storeDirectory + "/" + socketName
        // Through a descriptor, since the folder's path may be longer than a socket's address.
        let folder = open(storeDirectory, pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0)
        guard number >= 0 else { throw .cannotConnect(path: path, reason: String(cString: strerror(errno))) }
        let descriptor = OwnedDescriptor(adopting: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = "/proc/self/fd/\(folder)/\(socketName)"
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: name.utf8.prefix(bytes.count - 1))
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(number, $0, size) }
        }
        if result == 0 { return descriptor }
        switch errno {
        case ENOENT, ECONNREFUSED, ENOTDIR, ENOTSOCK: return nil
        // Nobody has taken the connections that wait.
        case EAGAIN: throw .notAnswering(path: path, seconds: 0)
        case let code: throw .cannotConnect(path: path, reason: String(cString: strerror(code)))
        }
    }

    /// O_PATH, which Swift does not see.
    private static let pathOnly: Int32 = 0o10000000
    /// SOCK_CLOEXEC and SOCK_NONBLOCK, which have the numbers of these.
    private static let flags = O_CLOEXEC | O_NONBLOCK
}
