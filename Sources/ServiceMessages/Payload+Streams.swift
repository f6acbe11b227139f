// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSystem
import Dispatch
import Glibc
import SystemSupport

extension Payload {
    /// Prepares bytes for sending. A small number of bytes is sent within the message. A larger
    /// number is sent through a socket that a thread fills while the receiver reads; the thread
    /// exits if the receiver closes the socket.
    ///
    /// - Throws: ``BusError/system(operation:code:)``.
    public static func sending(_ bytes: [UInt8]) throws(BusError) -> Payload {
        guard bytes.count > maximumInlineBytes else { return .inline(bytes) }
        var ends: [Int32] = [-1, -1]
        // A socket pair rather than a pipe, because a write to a closed pipe raises SIGPIPE, which
        // would terminate an app.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw .system(operation: "creating a stream", code: errno)
        }
        let reader = OwnedDescriptor(adopting: ends[0])
        let writer = OwnedDescriptor(adopting: ends[1])
        DispatchQueue.global().async {
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = send(writer.number, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
        return .stream(reader, length: UInt64(bytes.count))
    }

    /// Creates a payload with the bytes of an open file, from its start.
    ///
    /// - Throws: ``FileRefusal`` for a descriptor that is not of a regular file.
    public init(file: OwnedDescriptor) throws(FileRefusal) {
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= 0,
            lseek(file.number, 0, SEEK_SET) == 0
        else { throw FileRefusal(status: .unsupported, message: "its descriptor is not of a regular file") }
        self = .stream(file, length: UInt64(status.st_size))
    }

    /// Reads all bytes; blocks while a stream is filled.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: ``BusError``: ``BusErrorName/limitsExceeded`` above the limit, `malformed` if a
    ///   stream ends early.
    public func bytes(upTo limit: Int) throws(BusError) -> [UInt8] {
        guard length <= UInt64(limit) else {
            throw .remote(
                name: BusErrorName.limitsExceeded,
                message: "The data has \(length) bytes; the limit is \(limit). Request it as a file.")
        }
        switch self {
        case .inline(let bytes): return bytes
        case .stream(let descriptor, let length): return try Self.read(descriptor, Int(length))
        }
    }

    private static func read(_ descriptor: OwnedDescriptor, _ length: Int) throws(BusError) -> [UInt8] {
        let bytes: [UInt8]
        // The buffer grows with the bytes received, and does not rely on the announced length.
        do throws(ErrnoCode) { bytes = try WholeTransfer.bytes(of: descriptor.number, upTo: length) } catch {
            throw .system(operation: "reading a stream", code: error.code)
        }
        guard bytes.count == length else {
            throw .malformed("a stream ended after \(bytes.count) of \(length) bytes")
        }
        return bytes
    }
}

/// The reason why a file cannot fulfil a promise.
public struct FileRefusal: Error, Sendable {
    /// The status to report to the requester.
    public let status: ExtensionStatus
    /// The reason.
    public let message: String
}

extension FileReply {
    /// Opens the file that fulfils a promise. The file is opened in this process, so that the
    /// provider's own rights apply.
    ///
    /// - Throws: ``FileRefusal``, including for a path that is neither a regular file nor a folder
    ///   (such as a package).
    public init(opening path: String) throws(FileRefusal) {
        // Without O_NONBLOCK, opening a named pipe would block.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            throw FileRefusal(
                status: code == ENOENT ? .notFound : .failed,
                message: "opening \(path) failed: \(String(cString: strerror(code)))")
        }
        let descriptor = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw FileRefusal(status: .unsupported, message: "\(path) is neither a regular file nor a folder")
        }
        self.init(descriptor: descriptor, name: path.split(separator: "/").last.map(String.init) ?? "")
    }

    /// Checks an open file that fulfils a promise.
    ///
    /// - Throws: ``FileRefusal`` for anything but a regular file and a folder.
    public init(checking descriptor: OwnedDescriptor, name: String) throws(FileRefusal) {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw FileRefusal(
                status: .unsupported, message: "its descriptor is neither of a regular file nor of a folder")
        }
        self.init(descriptor: descriptor, name: name)
    }
}
