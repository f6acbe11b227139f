// SPDX-License-Identifier: Apache-2.0
import Glibc
import SymbolBindings
import SystemSupport

/// The memory that the calls of one request use, and what they gave back to be freed. All of it goes when the frame does,
/// what came last first.
///
/// `@unchecked Sendable`: it is filled on the one thread that makes the calls; afterwards it is only kept and let go.
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

    /// A folder of the request's own in `$TMPDIR`, made at first use and removed with all in it.
    func temporaryFolder() throws(BindingFailure) -> String {
        if let folder { return folder }
        let made = try TemporaryFolders.make()
        folder = made
        return made
    }

    /// Leaves the temporary folder to the end of the worker if a path is in it: a folder that was answered with is read afterwards.
    func keep(_ path: String) {
        if let folder, path == folder || path.hasPrefix(folder + "/") { self.folder = nil }
    }

    /// Memory of so many bytes, zeros; aligned for anything.
    func allocate(_ count: Int) throws(BindingFailure) -> UnsafeMutableRawPointer {
        // A byte more, so that there is an address even for nothing, and text in a buffer has an end.
        guard let block = calloc(1, count + 1) else {
            throw BindingFailure(.tooLarge, "there is no memory for \(count) bytes")
        }
        blocks.append(block)
        return block
    }

    /// A copy of bytes, with a zero after it.
    func copy(_ bytes: some Collection<UInt8>) throws(BindingFailure) -> UnsafeMutableRawBufferPointer {
        let count = try RuntimeValue.check(Int128(bytes.count), "a value")
        let memory = UnsafeMutableRawBufferPointer(start: try allocate(count), count: count)
        memory.copyBytes(from: bytes)
        return memory
    }

    func cString(_ text: String, _ what: String) throws(BindingFailure) -> UnsafeMutableRawPointer {
        guard !text.utf8.contains(0) else {
            throw BindingFailure(.invalidArgument, "\(what) contains a NUL, which no C string can")
        }
        let memory = try allocate(text.utf8.count)
        UnsafeMutableRawBufferPointer(start: memory, count: text.utf8.count).copyBytes(from: text.utf8)
        return memory
    }

    /// Takes over what a function gave away.
    func own(_ pointer: UnsafeMutableRawPointer, freedBy function: UnsafeMutableRawPointer) {
        owned.append((function, pointer))
    }

    /// The bytes of a regular file, up to the limit.
    func contents(of path: String) throws(BindingFailure) -> UnsafeRawBufferPointer {
        // Without O_NONBLOCK a named pipe would hang the request.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            throw BindingFailure(
                code == ENOENT ? .notFound : .failed, "opening \(path) failed: \(String(cString: strerror(code)))")
        }
        return try contents(of: OwnedDescriptor(adopting: number), path)
    }

    /// The bytes of an open regular file, up to the limit.
    func contents(of file: OwnedDescriptor, _ path: String) throws(BindingFailure) -> UnsafeRawBufferPointer {
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BindingFailure(.unsupported, "\(path) is not a regular file")
        }
        let size = try RuntimeValue.check(Int128(status.st_size), path)
        let memory = try allocate(size)
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: size)
        switch WholeTransfer.read(file.number, into: buffer, at: 0) {
        // Another program may have cut the file.
        case .success(let count): return UnsafeRawBufferPointer(start: memory, count: count)
        case .failure(let error):
            throw BindingFailure(.failed, "reading \(path) failed: \(String(cString: strerror(error.code)))")
        }
    }
}
