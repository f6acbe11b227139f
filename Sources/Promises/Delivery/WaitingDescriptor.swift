// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// A descriptor whose use never blocks: one waits for it with a limit, and then takes what there is.
///
/// Pipes and terminals are opened once more for that. The flag that makes a descriptor non-blocking belongs to everyone
/// who shares it: a shell would be surprised to have it on its terminal, and a provider could take it away.
struct WaitingDescriptor {
    /// What kind of file is behind it.
    enum Kind {
        case file
        case pipe
        case socket
        case other
    }

    let number: Int32
    let kind: Kind
    /// The most to write at once; what a pipe takes after waiting where it could not be opened again.
    let writeLimit: Int
    private let own: OwnedDescriptor?

    /// The most that is written to a pipe at once, in bytes; Linux promises that much room after a wait.
    private static let pipeBytes = 4096

    /// - Parameter flags: `O_RDONLY` or `O_WRONLY`. A number that is no descriptor gives an error when it is used.
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
                // Not ours to open: then at least this one.
                _ = fcntl(original, F_SETFL, fcntl(original, F_GETFL) | O_NONBLOCK)
            }
        }
        own = reopened >= 0 ? OwnedDescriptor(adopting: reopened) : nil
        number = reopened >= 0 ? reopened : original
        writeLimit = kind == .pipe && reopened < 0 ? Self.pipeBytes : .max
    }

    /// Waits until the descriptor can be used, or has a problem that its use will name.
    ///
    /// - Parameters:
    ///   - events: `POLLIN` or `POLLOUT`.
    ///   - end: How long; `nil` for ever. What is ready is found ready after it, too.
    ///   - now: What time it is.
    ///   - control: Ends the wait.
    /// - Returns: Whether that was in time. A signal only makes the wait begin anew.
    /// - Throws: ``PromiseError/cancelled`` too.
    func isReady(
        _ events: Int32, until end: ContinuousClock.Instant?, now: () -> ContinuousClock.Instant,
        _ control: DeliveryControl?
    ) throws(PromiseError) -> Bool {
        // Poll passes over negative numbers, and would only wait.
        guard number >= 0 else { return true }
        // It passes over the second too where there is no control.
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
