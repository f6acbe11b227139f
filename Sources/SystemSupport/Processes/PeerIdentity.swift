// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The identity of the process at the other end of a connection, as reported by the kernel. It is
/// determined once, when the connection is accepted.
public struct PeerIdentity: Sendable {
    /// The sandbox of a process, which determines what data the process may access.
    public enum Sandbox: Hashable, Sendable {
        /// No sandbox that defines an identity.
        case none
        /// A Flatpak sandbox, with the application's identifier, such as `org.gnome.Maps`.
        case flatpak(application: String)
        /// A strictly confined snap, with its name, such as `firefox`.
        case snap(name: String)
    }

    /// The user ID.
    public let user: uid_t
    /// The process ID, for logs. After the process has exited, its ID may be reused.
    public let process: pid_t
    /// The sandbox of the process.
    public let sandbox: Sandbox
    private let handle: ProcessHandle

    /// Identifies the process that connected through a socket.
    ///
    /// The process that connected is identified, even if it has passed the socket to another
    /// process. Before Linux 6.5, the kernel only reports its process ID. If the process has died
    /// before this call and its ID was reused, the new process is identified instead.
    ///
    /// - Parameters:
    ///   - socket: A connected Unix socket.
    ///   - processes: The path of `/proc`.
    /// - Throws: ``PeerIdentityError``, including if the sandbox cannot be determined.
    public init(of socket: OwnedDescriptor, processes: String = "/proc") throws(PeerIdentityError) {
        var process: pid_t = 0
        var user: uid_t = 0
        guard csystem_peer(socket.number, &process, &user) == 0 else {
            throw .system(operation: "getting the user of the client", code: errno)
        }
        guard process > 0 else { throw .invisible }
        let number = csystem_peer_process(socket.number)
        let code = errno
        let handle: ProcessHandle
        if number >= 0 {
            handle = ProcessHandle(process, descriptor: OwnedDescriptor(adopting: number))
        } else if code == ENOPROTOOPT {
            handle = try ProcessHandle(process, processes: processes)
        } else {
            throw .gone(process: process)
        }
        try self.init(user: user, handle: handle, processes: processes)
    }

    /// Identifies a process by its ID, for a client of a message bus that reports the ID.
    public init(process: pid_t, user: uid_t, processes: String = "/proc") throws(PeerIdentityError) {
        guard process > 0 else { throw .invisible }
        try self.init(
            user: user, handle: try ProcessHandle(process, processes: processes), processes: processes)
    }

    init(user: uid_t, handle: ProcessHandle, processes: String) throws(PeerIdentityError) {
        let sandbox = try SandboxProbe(process: handle.process, processes: processes).sandbox()
        // Only now is it certain that the checks applied to this process, and not to another
        // process that reused its ID.
        guard handle.isAlive else { throw .gone(process: handle.process) }
        self.user = user
        process = handle.process
        self.sandbox = sandbox
        self.handle = handle
    }

    /// `true` while the process exists.
    public var isAlive: Bool { handle.isAlive }
}

/// The reason why a process cannot be identified.
public enum PeerIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process is not visible, for example in another PID namespace.
    case invisible
    /// The process exited while it was being identified.
    case gone(process: pid_t)
    /// The process's sandbox cannot be determined.
    case undetermined(process: pid_t, detail: String)
    /// A system call failed.
    case system(operation: String, code: Int32)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .invisible:
            "The client's process is not visible to the service, as with a container. Run it outside the container."
        case .gone(let process): "The client (process \(process)) ended before it was identified."
        case .undetermined(let process, let detail):
            "The sandbox of the client (process \(process)) is unknown: \(detail)."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }
}
