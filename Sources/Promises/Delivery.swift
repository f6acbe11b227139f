// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol

/// Where a representation goes.
public enum Destination: Hashable, Sendable {
    /// A file, which appears when it is whole and not before.
    case file(path: String)
    /// A stream that is already open, such as standard output.
    case stream(descriptor: Int32)
}

/// Moves the bytes of a representation from its provider to its receiver. Blocks the caller; call it where that is fine.
public enum Delivery {
    /// Delivers bytes.
    ///
    /// - Parameters:
    ///   - payload: From the provider; its announced length is checked.
    ///   - destination: Where to.
    ///   - token: A number that no other delivery uses at the same time.
    /// - Returns: How many bytes were delivered.
    /// - Throws: ``PromiseError``; then no file has appeared.
    public static func deliver(
        _ payload: Payload, to destination: Destination, token: UInt64
    ) throws(PromiseError) -> UInt64 {
        try deliver(to: destination, token: token) { (output, path) throws(PromiseError) in
            switch payload {
            case .inline(let bytes):
                try bytes.span.withUnsafeBytes { (buffer) throws(PromiseError) in
                    try write(buffer, to: output, path: path)
                }
                return UInt64(bytes.count)
            case .stream(let descriptor, let length):
                let copied = try copy(descriptor.number, to: output, path: path, limit: length)
                guard copied == length else { throw .wrongLength(expected: length, received: copied) }
                return copied
            }
        }
    }

    /// Delivers the contents of a file the provider opened.
    ///
    /// - Returns: How many bytes were delivered.
    /// - Throws: ``PromiseError``; then no file has appeared.
    public static func deliver(
        _ file: FileReply, to destination: Destination, token: UInt64
    ) throws(PromiseError) -> UInt64 {
        var status = stat()
        guard fstat(file.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .inputOutput(operation: "Reading", path: file.name, code: EINVAL)
        }
        let length = UInt64(max(0, status.st_size))
        return try deliver(to: destination, token: token) { (output, path) throws(PromiseError) in
            // One byte more than announced is enough to see that the file grew.
            let copied = try copy(file.descriptor.number, to: output, path: path, limit: length + 1)
            guard copied == length else { throw .wrongLength(expected: length, received: copied) }
            return copied
        }
    }

    private static func deliver(
        to destination: Destination, token: UInt64,
        _ fill: (_ output: Int32, _ path: String) throws(PromiseError) -> UInt64
    ) throws(PromiseError) -> UInt64 {
        switch destination {
        case .stream(let descriptor): return try fill(descriptor, "the output")
        case .file(let path):
            let staged = try StagedFile.create(for: path, token: token)
            let count = try fill(staged.number, path)
            try staged.commit()
            return count
        }
    }

    /// Reads a payload into memory.
    ///
    /// - Parameter limit: The most bytes to take; a larger payload is refused.
    /// - Throws: ``PromiseError``.
    public static func collect(_ payload: Payload, limit: Int) throws(PromiseError) -> [UInt8] {
        guard payload.length <= UInt64(limit) else { throw .tooLarge(length: payload.length, limit: UInt64(limit)) }
        switch payload {
        case .inline(let bytes): return bytes
        case .stream(let descriptor, let length):
            var collected: [UInt8] = []
            collected.reserveCapacity(Int(length))
            let received = try read(descriptor.number, limit: length, path: "memory") {
                collected.append(contentsOf: $0)
            }
            guard received == length else { throw .wrongLength(expected: length, received: received) }
            return collected
        }
    }

    private static let bufferBytes = 128 << 10
    /// A provider that gives nothing for so long has stalled, in milliseconds (the design's "no progress 10 s").
    private static let stallLimit: Int32 = 10_000

    private static func copy(
        _ input: Int32, to output: Int32, path: String, limit: UInt64
    ) throws(PromiseError) -> UInt64 {
        try read(input, limit: limit, path: path) { (bytes) throws(PromiseError) in
            try write(bytes, to: output, path: path)
        }
    }

    /// Reads until the end of the input, or until more than the limit was read; what exceeds it is not passed on.
    private static func read(
        _ input: Int32, limit: UInt64, path: String, _ take: (UnsafeRawBufferPointer) throws(PromiseError) -> Void
    ) throws(PromiseError) -> UInt64 {
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        var total: UInt64 = 0
        while true {
            var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, stallLimit) != 0 else { throw .stalled(path: path, received: total) }
            let count = buffer.withUnsafeMutableBytes { Glibc.read(input, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw .inputOutput(operation: "Reading what is meant for", path: path, code: errno)
            }
            if count == 0 { return total }
            total += UInt64(count)
            guard total <= limit else { return total }
            try buffer.span.withUnsafeBytes { (bytes) throws(PromiseError) in
                try take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to output: Int32, path: String
    ) throws(PromiseError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(output, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .inputOutput(operation: "Writing to", path: path, code: errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
