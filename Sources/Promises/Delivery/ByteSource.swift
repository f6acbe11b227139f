// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The source of bytes: a stream, or a file from its start.
struct ByteSource {
    private let input: WaitingDescriptor
    /// The next offset in a file. The descriptor's own position is not used, because it is shared
    /// with the provider, who may have moved it.
    private var offset: Int64?
    private var pace: Pace

    private static let bufferBytes = 128 << 10

    /// Creates a source for a stream: a pipe or a socket. A file is read as a stream from its
    /// current position. Any other kind, such as a device, could block and causes an error.
    init(stream descriptor: Int32, pace: Pace) {
        input = WaitingDescriptor(descriptor, O_RDONLY)
        self.pace = pace
    }

    /// Creates a source for a regular file, from its start.
    init(file descriptor: Int32, pace: Pace) {
        input = WaitingDescriptor(descriptor, O_RDONLY)
        offset = 0
        self.pace = pace
    }

    /// Reads until the end of the input, or until more than `limit` bytes were read; bytes beyond
    /// the limit are not passed on. The time spent in `take` does not count towards the limits.
    ///
    /// - Parameter receiver: The receiver's name in error messages.
    /// - Returns: The number of bytes that were read.
    mutating func read(
        limit: UInt64, for receiver: String, _ take: (UnsafeRawBufferPointer) throws(PromiseError) -> Void
    ) throws(PromiseError) -> UInt64 {
        guard input.kind != .other else {
            throw .inputOutput(operation: "Reading the content for", path: receiver, code: EINVAL)
        }
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        var total: UInt64 = 0
        while true {
            try pace.checkCancelled()
            guard !pace.isOver else { throw .tooSlow(path: receiver, limit: pace.limits.total) }
            if input.kind != .file, try !input.isReady(POLLIN, until: pace.nextDeadline, now: pace.now, pace.control) {
                throw pace.isOver
                    ? .tooSlow(path: receiver, limit: pace.limits.total)
                    : .stalled(path: receiver, received: total, after: pace.limits.stall)
            }
            let count = buffer.withUnsafeMutableBytes(read)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count >= 0 else {
                throw .inputOutput(operation: "Reading the content for", path: receiver, code: errno)
            }
            if count == 0 { return total }
            total += UInt64(count)
            offset? += Int64(count)
            guard total <= limit else { return total }
            try pace.whileProviderRests { () throws(PromiseError) in
                try buffer.span.withUnsafeBytes { (bytes) throws(PromiseError) in
                    try take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                }
            }
        }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if let offset { return pread(input.number, buffer.baseAddress, buffer.count, off_t(offset)) }
        if input.kind == .socket {
            return recv(input.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        }
        return Glibc.read(input.number, buffer.baseAddress, buffer.count)
    }
}
