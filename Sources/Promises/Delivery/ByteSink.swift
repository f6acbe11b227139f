// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The destination for bytes: a staged file or a stream.
struct ByteSink {
    private let output: WaitingDescriptor
    /// The path in error messages.
    let path: String
    /// The digest of the written bytes, if it was requested.
    let digest: RunningDigest?
    private let control: DeliveryControl?

    init(_ descriptor: Int32, path: String, control: DeliveryControl? = nil, digest: RunningDigest? = nil) {
        output = WaitingDescriptor(descriptor, O_WRONLY)
        self.path = path
        self.control = control
        self.digest = digest
    }

    /// The descriptor, for code that writes to the file directly.
    var number: Int32 { output.number }

    /// `true` for a regular file, which never blocks.
    var isFile: Bool { output.kind == .file }

    /// Writes all bytes. Waits until the receiver has accepted them, as long as there is a
    /// receiver.
    ///
    /// - Throws: ``PromiseError/inputOutput(operation:path:code:)``, with `EPIPE` and without a
    ///   signal if a stream no longer has a receiver; ``PromiseError/cancelled``.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PromiseError) { _ = try write(bytes, patience: nil) }

    /// Writes bytes, and waits at most `patience` for a receiver that accepts none; `nil` for no
    /// limit.
    ///
    /// - Returns: The number of bytes that were accepted.
    func write(_ bytes: UnsafeRawBufferPointer, patience: Duration?) throws(PromiseError) -> Int {
        let end = patience.map { ContinuousClock.now + $0 }
        var rest = bytes
        while !rest.isEmpty {
            if output.kind != .file {
                guard try output.isReady(POLLOUT, until: end, now: { .now }, control) else { break }
            }
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(output.writeLimit))
            let (count, code) = writeWithoutSignal(piece)
            if count < 0 && (code == EINTR || code == EAGAIN) { continue }
            guard count > 0 else { throw .inputOutput(operation: "Writing to", path: path, code: code) }
            digest?.add(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            control?.moved(UInt64(count))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return bytes.count - rest.count
    }

    /// Writes without raising SIGPIPE for the process: the signal is blocked on this thread, and
    /// removed if this write caused it.
    private func writeWithoutSignal(_ bytes: UnsafeRawBufferPointer) -> (count: Int, code: Int32) {
        if output.kind == .socket {
            let count = send(
                output.number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            return (count, errno)
        }
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        var pending = sigset_t()
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        var previous = sigset_t()
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &previous)
        let count = Glibc.write(output.number, bytes.baseAddress, bytes.count)
        let code = errno
        if count < 0 && code == EPIPE && !wasPending {
            var atOnce = timespec(tv_sec: 0, tv_nsec: 0)
            while sigtimedwait(&brokenPipe, nil, &atOnce) < 0 && errno == EINTR {}
        }
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        return (count, code)
    }
}
