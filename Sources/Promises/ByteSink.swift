// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where bytes go: a staged file or a stream.
struct ByteSink {
    let descriptor: Int32
    /// As errors name it.
    let path: String

    /// Writes all of the bytes; blocks until they are taken.
    ///
    /// - Throws: ``PromiseError/inputOutput(operation:path:code:)``; with `EPIPE` when a stream's receiver has gone, for
    ///   which no signal is raised, and with `ETIMEDOUT` when a stream that does not block takes nothing for 10 s.
    func write(_ bytes: UnsafeRawBufferPointer) throws(PromiseError) {
        var rest = bytes
        while !rest.isEmpty {
            let (count, code) = Self.writeWithoutSignal(descriptor, rest)
            if count < 0 && code == EINTR { continue }
            if count < 0 && code == EAGAIN {
                guard try ByteSource.isReady(descriptor, POLLOUT) else { throw problem(ETIMEDOUT) }
                continue
            }
            guard count > 0 else { throw problem(code) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func problem(_ code: Int32) -> PromiseError {
        .inputOutput(operation: "Writing to", path: path, code: code)
    }

    /// Writes, and keeps a receiver that has gone from ending the process: the signal is held back on this thread, and
    /// taken away if this write has caused it.
    private static func writeWithoutSignal(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer
    ) -> (count: Int, code: Int32) {
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        var pending = sigset_t()
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        var previous = sigset_t()
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &previous)
        let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        let code = errno
        if count < 0 && code == EPIPE && !wasPending {
            var atOnce = timespec(tv_sec: 0, tv_nsec: 0)
            while sigtimedwait(&brokenPipe, nil, &atOnce) < 0 && errno == EINTR {}
        }
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        return (count, code)
    }
}
