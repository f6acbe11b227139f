// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Who is at the other end of a connection, as the kernel knows it. Determined once, when the connection is accepted.
public struct PeerIdentity: Sendable {
    /// What confines a process, and thus whose data it may touch.
    public enum Sandbox: Hashable, Sendable {
        /// Nothing that gives it an identity of its own.
        case none
        /// A Flatpak sandbox, with the identifier of the application, e.g. `org.gnome.Maps`.
        case flatpak(application: String)
        /// A strictly confined snap, with the name of it, e.g. `firefox`.
        case snap(name: String)
    }

    /// The identifier of the user.
    public let user: uid_t
    /// The identifier of the process, for logs; it may be another process's one day.
    public let process: pid_t
    /// What confines the process.
    public let sandbox: Sandbox
    private let handle: ProcessHandle

    /// Identifies the process that connected a socket.
    ///
    /// The process that connected counts, whoever it passed the socket to. Before Linux 6.5 the kernel gives only its
    /// number: a process that connected and died before this call, and whose number another one got since, is taken for
    /// the other one.
    ///
    /// - Parameters:
    ///   - socket: A connected Unix socket.
    ///   - processes: Where the processes are found (`/proc`).
    /// - Throws: ``PeerIdentityError``; what cannot be determined is an error.
    public init(of socket: OwnedDescriptor, processes: String = "/proc") throws(PeerIdentityError) {
        var process: pid_t = 0
        var user: uid_t = 0
        guard csystem_peer(socket.number, &process, &user) == 0 else {
            throw .system(operation: "asking who connected", code: errno)
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

    /// Identifies a process by its number, for a client of a message bus whose number the bus has told.
    public init(process: pid_t, user: uid_t, processes: String = "/proc") throws(PeerIdentityError) {
        guard process > 0 else { throw .invisible }
        try self.init(
            user: user, handle: try ProcessHandle(process, processes: processes), processes: processes)
    }

    init(user: uid_t, handle: ProcessHandle, processes: String) throws(PeerIdentityError) {
        let sandbox = try SandboxProbe(process: handle.process, processes: processes).sandbox()
        // Only now is it sure that all of the above was about this process and not about one that got its number.
        guard handle.isAlive else { throw .gone(process: handle.process) }
        self.user = user
        process = handle.process
        self.sandbox = sandbox
        self.handle = handle
    }

    /// Whether the process still lives.
    public var isAlive: Bool { handle.isAlive }
}

/// Why it cannot be said who is at the other end.
public enum PeerIdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process is not visible from here, as one in another process namespace.
    case invisible
    /// The process ended meanwhile.
    case gone(process: pid_t)
    /// Its sandbox cannot be made out.
    case undetermined(process: pid_t, detail: String)
    /// A system call failed.
    case system(operation: String, code: Int32)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .invisible:
            "The client runs where its process cannot be seen, as in a container. Run it beside the service."
        case .gone(let process): "The client (process \(process)) ended before it was clear who it is."
        case .undetermined(let process, let detail):
            "It cannot be made out in which sandbox the client (process \(process)) runs: \(detail)."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }
}
