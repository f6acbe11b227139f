// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceMessages

/// The destination of a representation.
public enum Destination: Hashable, Sendable {
    /// A file that appears when it is complete. An existing regular file is replaced and keeps its
    /// mode. A symbolic link is followed, as with `cp`. A named pipe, device or socket is written
    /// to as a stream. An existing folder is an error. A new file's mode follows the umask. A
    /// representation that is a folder replaces nothing, so the path must be free.
    case file(path: String)
    /// A free name in an existing folder: this name, or the same name with the next number.
    case folder(path: String, name: FileName)
    /// An open stream, such as standard output. It may have received part of a failed delivery.
    case stream(descriptor: Int32)
}

/// The content that fulfils a promise.
public enum PromisedContent: Sendable {
    /// Data.
    case data(Payload)
    /// A file or folder that is open for reading.
    case file(FileReply)
}

/// The transfer of a representation from its provider to its receiver. All functions block the
/// calling thread.
public enum Delivery {
    /// Delivers the content of a promise.
    ///
    /// - Parameters:
    ///   - content: The provider's content. Declared lengths and the lengths of files are checked.
    ///   - destination: The destination.
    ///   - token: A number that no other concurrent delivery uses.
    ///   - options: The options. The total time limit applies to streams; the copying of a file is
    ///     only bounded by its size.
    /// - Returns: A report of the delivery.
    /// - Throws: ``PromiseError``; in that case no file has appeared.
    public static func deliver(
        _ content: PromisedContent, to destination: Destination, token: UInt64,
        options: DeliveryOptions = DeliveryOptions()
    ) throws(PromiseError) -> DeliveryReport {
        let delivery = SingleDelivery(destination: destination, token: token, options: options)
        switch content {
        case .data(let payload): return try delivery.deliver(payload)
        case .file(let file): return try delivery.deliver(file)
        }
    }

    /// Returns the number of bytes that would be delivered, to the extent that it is known in
    /// advance. A folder is walked.
    ///
    /// - Throws: ``PromiseError``, including for content that would not be accepted.
    public static func length(
        of content: PromisedContent, options: DeliveryOptions = DeliveryOptions()
    ) throws(PromiseError) -> UInt64 {
        switch content {
        case .data(let payload): return payload.length
        case .file(let file):
            let status = try SingleDelivery.status(of: file)
            guard status.st_mode & S_IFMT == S_IFDIR else { return UInt64(max(0, status.st_size)) }
            let walk = TreeWalk(options.tree, Pace(options.limits, control: options.control))
            try walk.go(file.descriptor.number, to: nil, name: file.name)
            return walk.size.bytes
        }
    }

    /// Returns the path of an original that was opened in place; `nil` if it has no name.
    ///
    /// - Throws: ``PromiseError`` if the content is neither a file nor a folder.
    public static func originalPath(of content: PromisedContent) throws(PromiseError) -> String? {
        do throws(PromiseError) {
            return try InPlaceFile(content).path
        } catch {
            guard case .inputOutput(_, _, ENOENT) = error else { throw error }
            return nil
        }
    }

    /// Delivers data; see ``deliver(_:to:token:options:)``.
    ///
    /// - Returns: The number of delivered bytes.
    public static func deliver(
        _ payload: Payload, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        try deliver(.data(payload), to: destination, token: token, options: DeliveryOptions(limits: limits)).bytes
    }

    /// Delivers a file that the provider opened; see ``deliver(_:to:token:options:)``.
    ///
    /// - Returns: The number of delivered bytes.
    public static func deliver(
        _ file: FileReply, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        try deliver(.file(file), to: destination, token: token, options: DeliveryOptions(limits: limits)).bytes
    }

    /// Removes the unfinished files of deliveries in progress. Call it before a signal terminates
    /// the process. On file systems with unnamed files (O_TMPFILE) there are none. May be called
    /// from any thread, but not from a signal handler.
    public static func removeUnfinishedFiles() { UnfinishedFiles.removeAll() }

    /// Reads a payload into memory.
    ///
    /// - Parameters:
    ///   - payload: The provider's data. Its declared length is checked.
    ///   - limit: The maximum number of bytes. A larger payload is an error.
    ///   - limits: The time limits.
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
}
