// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization

/// Accepts connections on a listening socket, on its own thread, which blocks in `poll`.
///
/// If the process has no descriptors left, the listener frees a spare descriptor, accepts the
/// waiting connection with it, and closes the connection. The client then receives an error, and
/// the thread does not spin.
public final class Listener: Sendable {
    /// A problem reported by a listener.
    public enum Trouble: Hashable, Sendable, CustomStringConvertible {
        /// A connection was closed immediately, or is still waiting, because the process or the
        /// system has no descriptors or memory left.
        case exhausted(code: Int32)
        /// The socket failed; no further connections will be accepted.
        case failed(code: Int32)

        /// The problem in one sentence.
        public var description: String {
            switch self {
            case .exhausted(let code): "A connection could not be accepted: \(String(cString: strerror(code)))."
            case .failed(let code): "The socket no longer accepts connections: \(String(cString: strerror(code)))."
            }
        }
    }

    /// The system calls of a listener; replaceable in tests.
    struct Kernel: Sendable {
        var accept: @Sendable (_ listener: Int32) -> Result<Int32, ErrnoCode> = { listener in
            let number = csystem_accept(listener)
            return number >= 0 ? .success(number) : .failure(ErrnoCode(errno))
        }
        var wait: @Sendable (_ descriptors: inout [pollfd], _ milliseconds: Int32) -> Int32 = { descriptors, time in
            poll(&descriptors, nfds_t(descriptors.count), time)
        }
    }

    private let wake: OwnedDescriptor
    private let isClosed = Mutex(false)

    /// Starts accepting connections.
    ///
    /// - Parameters:
    ///   - socket: The listening socket, which the listener closes.
    ///   - name: The name of the thread, up to 15 bytes.
    ///   - onTrouble: Called on the listener's thread.
    ///   - onConnection: Called on the listener's thread for each connection, in order. Other
    ///     connections wait until it returns.
    /// - Throws: ``ServiceSocketError/system(operation:code:)``.
    public convenience init(
        adopting socket: OwnedDescriptor, name: String, onTrouble: @escaping @Sendable (Trouble) -> Void,
        onConnection: @escaping @Sendable (OwnedDescriptor) -> Void
    ) throws(ServiceSocketError) {
        try self.init(
            adopting: socket, name: name, kernel: Kernel(), onTrouble: onTrouble, onConnection: onConnection)
    }

    init(
        adopting socket: OwnedDescriptor, name: String, kernel: Kernel,
        onTrouble: @escaping @Sendable (Trouble) -> Void,
        onConnection: @escaping @Sendable (OwnedDescriptor) -> Void
    ) throws(ServiceSocketError) {
        let descriptor = csystem_event_descriptor()
        guard descriptor >= 0 else { throw .system(operation: "creating an event descriptor", code: errno) }
        let wake = OwnedDescriptor(adopting: descriptor)
        self.wake = wake
        // Another process may share an inherited socket and accept the connection first, so
        // `accept` must not block.
        let flags = fcntl(socket.number, F_GETFL)
        guard flags >= 0, fcntl(socket.number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw .system(operation: "preparing the listening socket", code: errno)
        }
        let accepting = Accepting(
            socket: socket, wake: wake, kernel: kernel, onTrouble: onTrouble, onConnection: onConnection)
        let result = OwnThread.start(name) { accepting.run() }
        guard result == 0 else { throw .system(operation: "starting the thread of a listener", code: result) }
    }

    deinit { close() }

    /// Stops accepting connections and closes the socket, without waiting for a running handler.
    /// The kernel closes connections that have not been accepted. May be called from any thread,
    /// more than once.
    public func close() {
        isClosed.withLock { closed in
            guard !closed else { return }
            closed = true
            var one: UInt64 = 1
            _ = write(wake.number, &one, 8)
        }
    }
}

/// The loop of a listener's thread.
private struct Accepting: Sendable {
    let socket: OwnedDescriptor
    let wake: OwnedDescriptor
    let kernel: Listener.Kernel
    let onTrouble: @Sendable (Listener.Trouble) -> Void
    let onConnection: @Sendable (OwnedDescriptor) -> Void

    /// The delay in milliseconds before the next attempt if another thread took the spare
    /// descriptor. There is no notification when a descriptor becomes free, so only this case uses
    /// a timeout.
    private static let pause: Int32 = 1000

    func run() {
        var spare = newSpare()
        while true {
            let isStarved = spare == nil
            var descriptors = [
                pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isStarved ? -1 : socket.number, events: Int16(POLLIN), revents: 0),
            ]
            let result = kernel.wait(&descriptors, isStarved ? Self.pause : -1)
            if result < 0 && errno != EINTR { return onTrouble(.failed(code: errno)) }
            if descriptors[0].revents != 0 { return }
            if isStarved {
                spare = newSpare()
            } else if descriptors[1].revents != 0, !accept(&spare) {
                return
            }
        }
    }

    /// Accepts one connection; returns `false` if the socket has failed.
    private func accept(_ spare: inout OwnedDescriptor?) -> Bool {
        switch kernel.accept(socket.number) {
        case .success(let number): onConnection(OwnedDescriptor(adopting: number))
        case .failure(let error):
            switch error.code {
            case EAGAIN, EINTR, ECONNABORTED, EPERM, EPROTO: break
            case EMFILE, ENFILE, ENOMEM, ENOBUFS:
                onTrouble(.exhausted(code: error.code))
                spare = nil  // Closes it.
                // If another thread took the free descriptor, this fails, and the loop pauses.
                guard case .success(let number) = kernel.accept(socket.number) else { return true }
                let refused = OwnedDescriptor(adopting: number)
                // `dup3` closes the connection and reuses its number for the spare descriptor in a
                // single step, so that no other thread can take it.
                if csystem_replace(wake.number, refused.number) >= 0 { spare = refused }
            default:
                onTrouble(.failed(code: error.code))
                return false
            }
        }
        return true
    }

    /// Returns a duplicate of the event descriptor, which uses no other resources.
    private func newSpare() -> OwnedDescriptor? { OwnedDescriptor(duplicating: wake.number) }
}
