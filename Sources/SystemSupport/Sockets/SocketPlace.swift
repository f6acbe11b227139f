// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The folder of a socket, kept open, and the socket's address in it.
package struct SocketPlace {
    /// The socket's path, for error messages.
    let path: String
    private let folder: OwnedDescriptor
    private let create: Bool
    private static let name = StoreLocation.socketName
    /// The maximum size of a path in a socket address, including its terminator (`sun_path`,
    /// unix(7)).
    package static let maximumAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Opens the folder.
    ///
    /// - Parameter create: `true` if the folder must exist. When connecting, a missing folder is
    ///   reported as a missing socket.
    init(folder: String, create: Bool) throws(ServiceSocketError) {
        path = StoreLocation(folder: folder).socketPath
        self.create = create
        let number = open(folder, Int32(csystem_o_path) | O_DIRECTORY | O_CLOEXEC)
        let code = errno
        if number < 0 {
            throw Self.error("opening the folder \(folder)", code: code, path: path, create: create)
        }
        self.folder = OwnedDescriptor(adopting: number)
    }

    /// Calls `body` with the socket's address. A path that is too long is replaced with a path
    /// through the folder's descriptor in `/proc`.
    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let direct = path.utf8.count < Self.maximumAddress
        let address = direct ? path : "/proc/self/fd/\(folder.number)/\(Self.name)"
        return withSocketAddress(Array(address.utf8), body)
    }

    /// Returns `true` if the file with the socket's name is a socket; `nil` if there is no file.
    private func kind() throws(ServiceSocketError) -> Bool? {
        var status = stat()
        guard fstatat(folder.number, Self.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw error("checking \(path)", code: code)
        }
        return status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns `true` if the file with the socket's name is a socket or no longer exists.
    func isSocket() throws(ServiceSocketError) -> Bool { try kind() ?? true }

    /// Returns `true` if the file is a socket of this user to which only this user may connect.
    func isOwnSocket() throws(ServiceSocketError) -> Bool {
        var status = stat()
        guard fstatat(folder.number, Self.name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw error("checking \(path)", code: errno)
        }
        return status.st_mode & S_IFMT == S_IFSOCK && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    /// Removes the socket if there is one, but no other kind of file.
    func removeSocket() throws(ServiceSocketError) {
        guard let isSocket = try kind() else { return }
        guard isSocket else { throw .notASocket(path: path) }
        guard unlinkat(folder.number, Self.name, 0) == 0 || errno == ENOENT else {
            throw error("removing the old socket \(path)", code: errno)
        }
    }

    func error(_ operation: String, code: Int32) -> ServiceSocketError {
        Self.error(operation, code: code, path: path, create: create)
    }

    private static func error(_ operation: String, code: Int32, path: String, create: Bool) -> ServiceSocketError {
        switch code {
        case EACCES, EPERM: .notPermitted(path: path)
        case ENOENT where !create, ENOTDIR where !create: .absent(path: path)
        default: .system(operation: operation, code: code)
        }
    }
}

/// Calls `body` with the Unix socket address of a path. A path that starts with a zero byte is an
/// abstract name.
///
/// - Precondition: At most ``SocketPlace/maximumAddress`` bytes.
package func withSocketAddress<Result>(
    _ path: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    precondition(path.count <= SocketPlace.maximumAddress)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let start = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2
    // An abstract name ends at the address length, a path at its terminating zero byte.
    let length = path.first == 0 ? start + path.count : MemoryLayout<sockaddr_un>.size
    return withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
}
