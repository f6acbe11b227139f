// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceMessages

/// Where a representation goes.
public enum Destination: Hashable, Sendable {
    /// A file, which appears when it is whole and not before. A regular file that is there is replaced and its mode kept;
    /// a symbolic link is followed, as `cp` does. A named pipe, a device or a socket is written to as a stream; a
    /// folder is refused. A new file has the mode that the umask leaves. A representation that is a folder takes nothing's
    /// place: nothing may be there.
    case file(path: String)
    /// In a folder that exists, under a name that is free: this one, or that with the next number.
    case folder(path: String, name: FileName)
    /// A stream that is already open, such as standard output. Of a delivery that fails it may have got a part.
    case stream(descriptor: Int32)
}

/// What fulfils a promise.
public enum PromisedContent: Sendable {
    /// Bytes.
    case data(Payload)
    /// A file or a folder that is open for reading.
    case file(FileReply)
}

/// Moves the bytes of a representation from its provider to its receiver. Blocks the caller; call it where that is fine.
public enum Delivery {
    /// Delivers what fulfils a promise.
    ///
    /// - Parameters:
    ///   - content: From the provider; the length it announces is checked, and that of files.
    ///   - destination: Where to.
    ///   - token: A number that no other delivery uses at the same time.
    ///   - options: How. The limit for the whole holds for streams; copying files is bound by their size.
    /// - Returns: What was delivered.
    /// - Throws: ``PromiseError``; then no file has appeared.
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

    /// How many bytes would be delivered, so far as can be told before. A folder is looked through.
    ///
    /// - Throws: ``PromiseError``, also for what would not be taken.
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

    /// Where an original is that was opened in place; `nil` for what has no name.
    ///
    /// - Throws: ``PromiseError``, for what is neither a file nor a folder.
    public static func originalPath(of content: PromisedContent) throws(PromiseError) -> String? {
        do throws(PromiseError) {
            return try InPlaceFile(content).path
        } catch {
            guard case .inputOutput(_, _, ENOENT) = error else { throw error }
            return nil
        }
    }

    /// Delivers bytes: ``deliver(_:to:token:options:)``.
    ///
    /// - Returns: How many bytes were delivered.
    public static func deliver(
        _ payload: Payload, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        try deliver(.data(payload), to: destination, token: token, options: DeliveryOptions(limits: limits)).bytes
    }

    /// Delivers the contents of a file the provider opened: ``deliver(_:to:token:options:)``.
    ///
    /// - Returns: How many bytes were delivered.
    public static func deliver(
        _ file: FileReply, to destination: Destination, token: UInt64, limits: DeliveryLimits = DeliveryLimits()
    ) throws(PromiseError) -> UInt64 {
        try deliver(.file(file), to: destination, token: token, options: DeliveryOptions(limits: limits)).bytes
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
