// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchlightExtension
import ServiceMessages
import SystemSupport

// The functions of `searchlight.content-draft/1`.

/// A stream that an extension fills through the C interface. Used by one thread at a time.
final class StreamWriter {
    private let socket: OwnedDescriptor
    private let length: UInt64
    private var written: UInt64 = 0
    let session: HostSession

    /// The longest wait for the receiver, in milliseconds: the total limit of a delivery.
    private static let patience: Int32 = 600_000

    /// All streams that extensions have not ended.
    static let all = HandleTable<StreamWriter>(tag: 0x5C)

    /// - Parameter socket: The end to write to.
    init(_ socket: OwnedDescriptor, length: UInt64, session: HostSession) {
        self.socket = socket
        self.length = length
        self.session = session
    }

    deinit { session.endStream() }

    /// Writes bytes; blocks while the receiver does not read them.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard UInt64(bytes.count) <= length - written else {
            session.misuse(
                .invalidArgument,
                "A stream of \(length) bytes got \(bytes.count) more after \(written); none of them is sent.")
            return SEARCHLIGHT_TOO_LARGE
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = send(
                socket.number, part.baseAddress, part.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count > 0 {
                rest = rest.dropFirst(count)
                written += UInt64(count)
            } else if count < 0, errno == EAGAIN {
                guard isWritable() else { return SEARCHLIGHT_CANCELLED }
            } else if count == 0 || errno != EINTR {
                return SEARCHLIGHT_CANCELLED
            }
        }
        return SEARCHLIGHT_OK
    }

    /// Waits until the receiver has read something; returns `false` if that takes too long.
    private func isWritable() -> Bool {
        var waiting = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
        var count: Int32
        repeat { count = poll(&waiting, 1, Self.patience) } while count < 0 && errno == EINTR
        return count > 0
    }
}

private let streamName = "searchlight_stream"

let contentTable = StaticTable(
    searchlight_host_content(
        size: UInt32(MemoryLayout<searchlight_host_content>.size), reserved: 0,
        finish_with_descriptor: { host, request, number, name in
            guard let session = session(host) else { return }
            guard let name = optionalText(name, "The name of a file", session),
                name?.utf8.contains(UInt8(ascii: "/")) != true, (name?.utf8.count ?? 0) <= Int(NAME_MAX)
            else {
                session.finish(request, .failed(.invalidArgument, "the extension gave a file name that is none"))
                return
            }
            guard let descriptor = OwnedDescriptor(duplicating: number) else {
                let reason = String(cString: strerror(errno))
                session.misuse(.invalidArgument, "The descriptor \(number) of an answer cannot be used: \(reason).")
                session.finish(
                    request, .failed(.invalidArgument, "the extension gave descriptor \(number): \(reason)"))
                return
            }
            session.finish(request, .descriptor(descriptor, name: name ?? ""))
        },
        finish_with_stream: { host, request, length in
            guard let session = session(host) else { return nil }
            guard session.requests.isPending(request) else {
                // The answer is refused, and reported.
                session.finish(request, .failed(.failed, ""))
                return nil
            }
            guard session.beginStream() else {
                session.misuse(
                    .invalidArgument,
                    "The extension has \(HostSession.maximumStreams) streams; end one before the next.")
                return nil
            }
            var ends: [Int32] = [-1, -1]
            // A write to a closed pipe would raise SIGPIPE.
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                session.endStream()
                return nil
            }
            let reader = OwnedDescriptor(adopting: ends[0])
            let writer = StreamWriter(OwnedDescriptor(adopting: ends[1]), length: length, session: session)
            // An answer on another thread may have come first; the writer is released then.
            guard session.isFinished(request, by: .stream(reader, length: length)) else { return nil }
            return keep(StreamWriter.all, writer, session)
        },
        write: { stream, pointer, length in
            use(StreamWriter.all, stream, streamName) { writer in
                guard length >= 0, pointer != nil || length == 0 else {
                    writer.session.misuse(
                        .invalidArgument, "A stream got \(UInt(bitPattern: length)) bytes at no address.")
                    return SEARCHLIGHT_INVALID_ARGUMENT
                }
                return writer.write(UnsafeRawBufferPointer(start: pointer, count: length))
            }
        },
        end: { stream in release(StreamWriter.all, stream, streamName) }))
