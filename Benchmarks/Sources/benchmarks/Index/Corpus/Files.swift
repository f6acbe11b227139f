// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file that is written sequentially and gets its name only when it is complete.
final class OutputFile {
    private let path: String
    private let handle: FileHandle
    private var buffer: [UInt8] = []

    init(path: String) throws {
        self.path = path
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard FileManager.default.createFile(atPath: path + ".new", contents: nil),
            let handle = FileHandle(forWritingAtPath: path + ".new")
        else { throw BenchmarkError("\(path).new cannot be written. Check the folder’s permissions.") }
        self.handle = handle
    }

    func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count > 1 << 20 { try flush() }
    }

    func finish() throws {
        try flush()
        try handle.close()
        guard rename(path + ".new", path) == 0 else {
            throw BenchmarkError("\(path).new cannot be renamed: \(String(cString: strerror(errno))).")
        }
    }

    private func flush() throws {
        try handle.write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

/// A file that is read sequentially in chunks, so that it does not add to this process's memory.
final class InputFile {
    private let path: String
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private var position = 0

    init(path: String) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw BenchmarkError("\(path) cannot be read. Remove it, and it is created again.")
        }
        self.path = path
        self.handle = handle
    }

    deinit { try? handle.close() }

    /// Returns the next `count` bytes, or `nil` at the end of the file.
    func read(_ count: Int) throws -> ArraySlice<UInt8>? {
        while buffer.count - position < count {
            guard let more = try handle.read(upToCount: 1 << 20), !more.isEmpty else {
                guard position == buffer.count else { throw BenchmarkError("\(path) is truncated. Remove it.") }
                return nil
            }
            buffer.removeFirst(position)
            position = 0
            buffer += more
        }
        defer { position += count }
        return buffer[position..<(position + count)]
    }
}
