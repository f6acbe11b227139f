// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol

/// Where a representation goes.
public enum Destination: Hashable, Sendable {
    /// A file, which appears when it is whole and not before. A regular file that is there is replaced and its mode kept;
    /// a symbolic link is followed, as `cp` does. A named pipe, a device or a socket is written to as a stream; a
    /// folder is refused. A new file has the mode that the umask leaves.
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
    ///   - limits: How long it may take.
    /// - Returns: How many bytes were delivered.
    /// - Throws: ``PromiseError``; then no file has appeared.
    public static func deliver(
        _ payload: Payload, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        let pace = Pace(limits)
        return try deliver(payload.length, to: destination, token: token, pace) { (output) throws(PromiseError) in
            switch payload {
            case .inline(let bytes):
                try bytes.span.withUnsafeBytes { (buffer) throws(PromiseError) in try output.write(buffer) }
                return UInt64(bytes.count)
            case .stream(let descriptor, let length):
                let source = ByteSource(stream: descriptor.number, pace: pace)
                let copied = try copy(source, to: output, limit: length)
                guard copied == length else { throw .wrongLength(expected: length, received: copied) }
                return copied
            }
        }
    }

    /// Delivers the contents of a file the provider opened.
    ///
    /// - Parameters:
    ///   - file: From the provider.
    ///   - destination: Where to.
    ///   - token: A number that no other delivery uses at the same time.
    ///   - limits: How long it may take; the limit for the whole holds when the destination is a stream.
    /// - Returns: How many bytes were delivered.
    /// - Throws: ``PromiseError``; then no file has appeared.
    public static func deliver(
        _ file: FileReply, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        var status = stat()
        guard fstat(file.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .inputOutput(operation: "Reading", path: file.name, code: EINVAL)
        }
        let length = UInt64(max(0, status.st_size))
        let pace = Pace(limits)
        return try deliver(length, to: destination, token: token, pace) { (output) throws(PromiseError) in
            // One byte more than announced is enough to see that the file grew.
            let source = ByteSource(
                file: file.descriptor.number, pace: output.isFile ? Pace(limits, isBounded: false) : pace)
            let copied = try copy(source, to: output, limit: length + 1)
            guard copied == length else { throw .wrongLength(expected: length, received: copied) }
            return copied
        }
    }

    private static func deliver(
        _ length: UInt64, to destination: Destination, token: UInt64, _ pace: Pace,
        _ fill: (ByteSink) throws(PromiseError) -> UInt64
    ) throws(PromiseError) -> UInt64 {
        switch destination {
        case .stream(let descriptor): return try fill(ByteSink(descriptor, path: "the output", pace: pace))
        case .file(let path):
            switch try FileTarget.find(path) {
            case .stream(let path, let isSocket):
                let stream = try FileTarget.open(stream: path, isSocket: isSocket, pace)
                return try fill(ByteSink(stream.number, path: path, pace: pace))
            case .regular(let target, let existing):
                let staged = try StagedFile.create(for: target, existing: existing, token: token)
                try staged.checkRoom(for: length)
                let count = try fill(ByteSink(staged.number, path: path, pace: pace))
                try staged.commit()
                return count
            }
        }
    }

    /// Removes the unfinished files of deliveries under way: for whoever ends the process at a signal. Where the file
    /// system keeps files without names there are none. May be called from any thread, not from a signal handler.
    public static func removeUnfinishedFiles() { UnfinishedFiles.removeAll() }

    /// Reads a payload into memory.
    ///
    /// - Parameters:
    ///   - payload: From the provider; its announced length is checked.
    ///   - limit: The most bytes to take; a larger payload is refused.
    ///   - limits: How long it may take.
    /// - Throws: ``PromiseError``.
    public static func collect(
        _ payload: Payload, limit: Int, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> [UInt8] {
        guard payload.length <= UInt64(limit) else { throw .tooLarge(length: payload.length, limit: UInt64(limit)) }
        switch payload {
        case .inline(let bytes): return bytes
        case .stream(let descriptor, let length):
            var collected: [UInt8] = []
            collected.reserveCapacity(Int(length))
            var source = ByteSource(stream: descriptor.number, pace: Pace(limits))
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
