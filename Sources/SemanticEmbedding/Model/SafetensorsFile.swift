// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels
import Glibc
import SystemSupport

/// A memory-mapped safetensors file: mapped read-only, and unmapped when the object is
/// deinitialized. Pages are read when the encoder first accesses them.
///
/// The installer writes the file once and renames it; no process writes to it afterwards. If
/// another process of the same user truncates the file while it is mapped, this process is
/// terminated with SIGBUS.
final class SafetensorsFile {
    let path: String
    private let header: SafetensorsHeader
    private let bytes: UnsafeRawBufferPointer

    /// The maximum size of a file, in bytes.
    private static let maximumBytes = 2 << 30

    /// Maps a file and checks its tensor table.
    init(path: String) throws(EmbeddingError) {
        self.path = path
        bytes = try Self.map(path)
        do {
            let beginning = bytes.prefix(SafetensorsHeader.lengthBytes)
            let length = try SafetensorsHeader.length(ArraySlice(beginning), fileBytes: bytes.count)
            let table = bytes[SafetensorsHeader.lengthBytes..<SafetensorsHeader.lengthBytes + length]
            header = try SafetensorsHeader(reading: ArraySlice(table), fileBytes: bytes.count)
        } catch {
            munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
            throw error.error(in: path)
        }
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    private static func map(_ path: String) throws(EmbeddingError) -> UnsafeRawBufferPointer {
        func failed(_ reason: String) -> EmbeddingError { .file(path: path, reason: reason) }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { throw failed("\(String(cString: strerror(errno))).") }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw failed("\(String(cString: strerror(errno))).") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failed("it is not a regular file.") }
        let size = Int(status.st_size)
        guard size > 0 else { throw failed("it is empty.") }
        guard size <= maximumBytes else { throw failed("it has \(size) bytes; the limit is \(maximumBytes).") }
        guard let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.number, 0), base != MAP_FAILED else {
            throw failed("it cannot be mapped: \(String(cString: strerror(errno))).")
        }
        return UnsafeRawBufferPointer(start: base, count: size)
    }

    /// Returns `true` if the file contains a tensor with a name.
    func contains(_ name: String) -> Bool { header.tensors[name] != nil }

    /// Returns the bytes and the description of a tensor. The bytes are valid as long as this
    /// object exists.
    func tensor(_ name: String) throws(EmbeddingError) -> (SafetensorsHeader.Tensor, UnsafeRawBufferPointer) {
        guard let tensor = header.tensors[name] else {
            throw .file(path: path, reason: "it has no tensor “\(name)”.")
        }
        return (tensor, UnsafeRawBufferPointer(rebasing: bytes[tensor.range]))
    }

    /// Returns the error for a tensor with an unexpected shape or type.
    func mismatch(_ name: String, _ tensor: SafetensorsHeader.Tensor, expected: String) -> EmbeddingError {
        .unsupported(
            path: path,
            reason: "the tensor “\(name)” is \(tensor.type.rawValue) \(tensor.shape), and \(expected) is needed.")
    }
}
