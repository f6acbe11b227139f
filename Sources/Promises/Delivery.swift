// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol

/// Where a representation goes.
public enum Destination: Hashable, Sendable {
    /// A file, which appears when it is whole and not before. What has its name is replaced; of a symbolic link the link
    /// itself, so that no delivery is led elsewhere. A folder is refused.
    case file(path: String)
    /// A stream that is already open, such as standard output. Of a delivery that fails it may have got a part.
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
        try deliver(to: destination, token: token) { (output) throws(PromiseError) in
            switch payload {
            case .inline(let bytes):
                try bytes.span.withUnsafeBytes { (buffer) throws(PromiseError) in try output.write(buffer) }
                return UInt64(bytes.count)
            case .stream(let descriptor, let length):
                let copied = try copy(ByteSource(descriptor.number), to: output, limit: length)
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
        return try deliver(to: destination, token: token) { (output) throws(PromiseError) in
            // One byte more than announced is enough to see that the file grew.
            let copied = try copy(ByteSource(file.descriptor.number, offset: 0), to: output, limit: length + 1)
            guard copied == length else { throw .wrongLength(expected: length, received: copied) }
            return copied
        }
    }

    private static func deliver(
        to destination: Destination, token: UInt64,
        _ fill: (ByteSink) throws(PromiseError) -> UInt64
    ) throws(PromiseError) -> UInt64 {
        switch destination {
        case .stream(let descriptor): return try fill(ByteSink(descriptor: descriptor, path: "the output"))
        case .file(let path):
            let staged = try StagedFile.create(for: path, token: token)
            let count = try fill(ByteSink(descriptor: staged.number, path: path))
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
            var source = ByteSource(descriptor.number)
            let received = try source.read(limit: length, for: "memory") {
                collected.append(contentsOf: $0)
            }
            guard received == length else { throw .wrongLength(expected: length, received: received) }
            return collected
        }
    }

    private static func copy(
        _ source: consuming ByteSource, to output: ByteSink, limit: UInt64
    ) throws(PromiseError) -> UInt64 {
        try source.read(limit: limit, for: output.path) { (bytes) throws(PromiseError) in try output.write(bytes) }
    }
}
