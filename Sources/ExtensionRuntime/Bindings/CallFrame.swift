// SPDX-License-Identifier: Apache-2.0
import Glibc
import SymbolBindings
import SystemSupport

/// The memory and the temporary folder for the calls of one request, and the results that must be
/// freed. When the frame ends, it frees the results in reverse order, then the memory, and removes
/// the folder.
///
/// `@unchecked Sendable`: it is filled on the one thread that makes the calls. Afterwards it is
/// only kept and released.
final class CallFrame: @unchecked Sendable {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var owned: [(free: UnsafeMutableRawPointer, pointer: UnsafeMutableRawPointer)] = []
    private var folder: String?

    deinit {
        for (function, pointer) in owned.reversed() {
            LibraryMemory.duringCall {
                unsafeBitCast(function, to: (@convention(c) (UnsafeMutableRawPointer) -> Void).self)(pointer)
            }
        }
        for block in blocks { free(block) }
        if let folder { TemporaryFolders.remove(folder) }
    }

    /// Returns the request's own folder in `$TMPDIR`. The folder is created with the first call,
    /// and removed with its contents when the frame ends.
    func temporaryFolder() throws(BindingFailure) -> String {
        if let folder { return folder }
        let made = try TemporaryFolders.make()
        folder = made
        return made
    }

    /// Keeps the temporary folder until the worker exits if it contains `path`. If a folder is the
    /// result of a request, it is read after the frame has ended.
    func keep(_ path: String) {
        if let folder, path == folder || path.hasPrefix(folder + "/") { self.folder = nil }
    }

    /// Returns zeroed memory of `count` bytes, aligned for any type.
    func allocate(_ count: Int) throws(BindingFailure) -> UnsafeMutableRawPointer {
        // One more byte, so that an empty block has an address too, and text in a buffer is
        // terminated.
        guard let block = calloc(1, count + 1) else {
            throw BindingFailure(.tooLarge, "there is no memory for \(count) bytes")
        }
        blocks.append(block)
        return block
    }

    /// Returns a copy of bytes, followed by a zero byte.
    func copy(_ bytes: some Collection<UInt8>) throws(BindingFailure) -> UnsafeMutableRawBufferPointer {
        let count = try RuntimeValue.check(Int128(bytes.count), "a value")
        let memory = UnsafeMutableRawBufferPointer(start: try allocate(count), count: count)
        memory.copyBytes(from: bytes)
        return memory
    }

    func cString(_ text: String, _ what: String) throws(BindingFailure) -> UnsafeMutableRawPointer {
        guard !text.utf8.contains(0) else {
            throw BindingFailure(.invalidArgument, "\(what) contains a NUL, which a C string cannot contain")
        }
        let memory = try allocate(text.utf8.count)
        UnsafeMutableRawBufferPointer(start: memory, count: text.utf8.count).copyBytes(from: text.utf8)
        return memory
    }

    /// Takes ownership of a result that a function allocated.
    func own(_ pointer: UnsafeMutableRawPointer, freedBy function: UnsafeMutableRawPointer) {
        owned.append((function, pointer))
    }

    /// Returns the bytes of a regular file, up to the limit.
    func contents(of path: String) throws(BindingFailure) -> UnsafeRawBufferPointer {
        // Without O_NONBLOCK, a named pipe would block the request.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            throw BindingFailure(
                code == ENOENT ? .notFound : .failed, "opening \(path) failed: \(String(cString: strerror(code)))")
        }
        return try contents(of: OwnedDescriptor(adopting: number), path)
    }

    /// Returns the bytes of an open regular file, up to the limit.
    /// - Parameter path: The file's name in error messages.
    func contents(of file: OwnedDescriptor, _ path: String) throws(BindingFailure) -> UnsafeRawBufferPointer {
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BindingFailure(.unsupported, "\(path) is not a regular file")
        }
        let size = try RuntimeValue.check(Int128(status.st_size), path)
        let memory = try allocate(size)
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: size)
        switch WholeTransfer.read(file.number, into: buffer, at: 0) {
        // Another program may have truncated the file.
        case .success(let count): return UnsafeRawBufferPointer(start: memory, count: count)
        case .failure(let error):
            throw BindingFailure(.failed, "reading \(path) failed: \(String(cString: strerror(error.code)))")
        }
    }
}
