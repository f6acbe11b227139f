// SPDX-License-Identifier: Apache-2.0
import Dispatch
import CommandSupport
import Glibc
import SystemSupport

/// The lines of a file or of standard input, read on demand.
struct InputLines {
    /// The maximum length of a line in bytes. It is larger than the largest item, even if JSON
    /// escapes take six bytes per byte.
    static let maximumLineBytes = 100 << 20
    private static let chunkBytes = 256 << 10

    private let path: String
    private let limit: Int
    private let descriptor: OwnedDescriptor
    private var chunk: [UInt8] = []
    private var position = 0
    private var isAtEnd = false

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter limit: The maximum length of a line, in bytes.
    init(path: String, limit: Int = maximumLineBytes) throws(CommandFailure) {
        self.limit = limit
        let number = path == "-" ? dup(STDIN_FILENO) : open(absolute(path), O_RDONLY | O_CLOEXEC)
        self.path = path == "-" ? "standard input" : path
        guard number >= 0 else { throw Self.failure(self.path, "cannot be opened", errno) }
        descriptor = OwnedDescriptor(adopting: number)
    }

    /// Returns the next line without its line feed; `nil` after the last line. For a line that is
    /// too long, `isTooLong` is `true` and the bytes are dropped.
    mutating func next() async throws(CommandFailure) -> (bytes: [UInt8], isTooLong: Bool)? {
        var line: [UInt8] = []
        var isTooLong = false
        var isEmpty = true
        while true {
            if position == chunk.count {
                guard try await readChunk() else { return isEmpty ? nil : (line, isTooLong) }
            }
            isEmpty = false
            let rest = chunk[position...]
            let end = rest.firstIndex(of: 0x0A)
            if !isTooLong {
                line += rest[..<(end ?? chunk.count)]
                if line.count > limit { (line, isTooLong) = ([], true) }
            }
            position = (end ?? chunk.count - 1) + 1
            if end != nil { return (line, isTooLong) }
        }
    }

    /// Reads a chunk on a thread that may block, because a pipe may be without data for a long
    /// time.
    private mutating func readChunk() async throws(CommandFailure) -> Bool {
        guard !isAtEnd else { return false }
        let descriptor = descriptor
        let (bytes, code): ([UInt8], Int32) = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var buffer = [UInt8](repeating: 0, count: Self.chunkBytes)
                while true {
                    let count = read(descriptor.number, &buffer, buffer.count)
                    if count < 0 && errno == EINTR { continue }
                    if count < 0 && errno == EAGAIN {
                        // The parent process made the descriptor non-blocking.
                        var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
                        poll(&waiting, 1, -1)
                        continue
                    }
                    let code = count < 0 ? errno : 0
                    return continuation.resume(returning: (Array(buffer.prefix(max(0, count))), code))
                }
            }
        }
        guard code == 0 else { throw Self.failure(path, "cannot be read", code) }
        (chunk, position, isAtEnd) = (bytes, 0, bytes.isEmpty)
        return !isAtEnd
    }

    private static func failure(_ path: String, _ what: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            message: "\(path) \(what): \(String(cString: strerror(code))).",
            status: code == ENOENT ? .notFound : .inputOutput)
    }
}
