// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// A descriptor that never blocks: the caller waits for it up to a limit and then reads or writes
/// what is possible.
///
/// Pipes and terminals are opened again for this purpose, because all users of an open file
/// description share its O_NONBLOCK flag. Setting the flag would surprise a shell on its terminal,
/// and a provider could clear it.
struct WaitingDescriptor {
    /// The kind of file behind the descriptor.
    enum Kind {
        case file
        case pipe
        case socket
        case other
    }

    let number: Int32
    let kind: Kind
    /// The maximum number of bytes per write: if a pipe could not be opened again, the amount that
    /// it accepts after a wait.
    let writeLimit: Int
    private let own: OwnedDescriptor?

    /// The maximum number of bytes per write to a pipe. Linux guarantees this much room after a
    /// wait.
    private static let pipeBytes = 4096

    /// Prepares a descriptor.
    ///
    /// - Parameter flags: `O_RDONLY` or `O_WRONLY`. An invalid descriptor causes an error when it
    ///   is first used.
    init(_ original: Int32, _ flags: Int32) {
        var status = stat()
        let isOpen = original >= 0 && fstat(original, &status) == 0
        switch isOpen ? status.st_mode & S_IFMT : 0 {
        case S_IFREG: kind = .file
        case S_IFIFO: kind = .pipe
        case S_IFSOCK: kind = .socket
        default: kind = .other
        }
        var reopened: Int32 = -1
        if kind == .pipe || (kind == .other && isOpen && isatty(original) == 1) {
            reopened = open("/proc/self/fd/\(original)", flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            if reopened < 0, flags == O_RDONLY {
                // The pipe cannot be opened again, so the flag is set on the shared description.
                _ = fcntl(original, F_SETFL, fcntl(original, F_GETFL) | O_NONBLOCK)
            }
        }
        own = reopened >= 0 ? OwnedDescriptor(adopting: reopened) : nil
        number = reopened >= 0 ? reopened : original
        writeLimit = kind == .pipe && reopened < 0 ? Self.pipeBytes : .max
    }

    /// Waits until the descriptor is ready or has an error, which its next use will report.
    ///
    /// - Parameters:
    ///   - events: `POLLIN` or `POLLOUT`.
    ///   - end: The deadline; `nil` for none. A descriptor that is ready is reported as ready even
    ///     after the deadline.
    ///   - now: Returns the current time.
    ///   - control: Cancels the wait.
    /// - Returns: `true` if the descriptor is ready. A signal only restarts the wait.
    /// - Throws: ``PromiseError``, including ``PromiseError/cancelled``.
    func isReady(
        _ events: Int32, until end: ContinuousClock.Instant?, now: () -> ContinuousClock.Instant,
        _ control: DeliveryControl?
    ) throws(PromiseError) -> Bool {
        // poll ignores negative descriptor numbers and would wait until the deadline.
        guard number >= 0 else { return true }
        // poll also ignores the second entry if there is no control.
        var waiting = (
            pollfd(fd: number, events: Int16(events), revents: 0),
            pollfd(fd: control?.wakeUpNumber ?? -1, events: Int16(POLLIN), revents: 0)
        )
        while true {
            if control?.isCancelled == true { throw .cancelled }
            let milliseconds = end.map { Pace.milliseconds(now().duration(to: $0)) } ?? -1
            let count = withUnsafeMutableBytes(of: &waiting) {
                poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds)
            }
            if count > 0, waiting.1.revents != 0 { throw .cancelled }
            if count > 0 { return true }
            if count == 0, let end, now() >= end { return false }
            guard count == 0 || errno == EINTR else {
                throw .inputOutput(operation: "Waiting for", path: "descriptor \(number)", code: errno)
            }
        }
    }
}
