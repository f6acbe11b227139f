// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes that come from a descriptor: a stream, or a file from some place on.
struct ByteSource {
    private let descriptor: Int32
    /// Where to read next in a file. The descriptor's own position is shared with the provider, who may have moved it.
    private var offset: Int64?

    /// A provider that gives nothing for so long has stalled, in milliseconds (the design's "no progress 10 s"), and so
    /// has a receiver that takes nothing.
    static let stallLimit: Int32 = 10_000
    private static let bufferBytes = 128 << 10

    init(_ descriptor: Int32, offset: Int64? = nil) {
        self.descriptor = descriptor
        self.offset = offset
    }

    /// Reads until the end of the input, or until more than the limit was read; what exceeds it is not passed on.
    ///
    /// - Parameter receiver: For whom, as errors name it.
    /// - Returns: How many bytes there were.
    mutating func read(
        limit: UInt64, for receiver: String, _ take: (UnsafeRawBufferPointer) throws(PromiseError) -> Void
    ) throws(PromiseError) -> UInt64 {
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        var total: UInt64 = 0
        while true {
            guard try Self.isReady(descriptor, POLLIN) else { throw .stalled(path: receiver, received: total) }
            let count = buffer.withUnsafeMutableBytes { buffer in
                if let offset { return pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
                return Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count >= 0 else {
                throw .inputOutput(operation: "Reading what is meant for", path: receiver, code: errno)
            }
            if count == 0 { return total }
            total += UInt64(count)
            offset? += Int64(count)
            guard total <= limit else { return total }
            try buffer.span.withUnsafeBytes { (bytes) throws(PromiseError) in
                try take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
    }

    /// Waits until a descriptor can be used, or has a problem that its use will name.
    ///
    /// - Returns: Whether that was before the stall limit. A signal only makes the wait begin anew.
    static func isReady(_ descriptor: Int32, _ events: Int32) throws(PromiseError) -> Bool {
        // Poll passes over negative numbers, and would only wait.
        guard descriptor >= 0 else { return true }
        var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = poll(&waiting, 1, stallLimit)
            if count >= 0 { return count > 0 }
            guard errno == EINTR else {
                throw .inputOutput(operation: "Waiting for", path: "descriptor \(descriptor)", code: errno)
            }
        }
    }
}
