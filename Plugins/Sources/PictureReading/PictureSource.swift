// SPDX-License-Identifier: Apache-2.0
import CPictures
import FileReading
import Glibc

/// A part of an open file, or of a metadata block in memory, from which bytes are read by offset. A
/// read that extends beyond the end returns fewer bytes.
struct PictureSource {
    private enum Storage {
        case file(Descriptor, offset: Int)
        case memory([UInt8])
    }

    private let storage: Storage
    /// The length, in bytes.
    let count: Int

    init(_ file: OpenedFile) {
        storage = .file(file.descriptor, offset: 0)
        count = Int(clamping: file.size)
    }

    init(_ bytes: [UInt8]) {
        storage = .memory(bytes)
        count = bytes.count
    }

    private init(_ storage: Storage, count: Int) {
        self.storage = storage
        self.count = count
    }

    /// Returns a part of the source; nil if it is not within the source.
    func part(at offset: Int, count length: Int) -> PictureSource? {
        guard offset >= 0, length > 0, offset <= count, length <= count - offset else { return nil }
        switch storage {
        case .file(let descriptor, let start):
            return PictureSource(.file(descriptor, offset: start + offset), count: length)
        case .memory(let bytes): return PictureSource(Array(bytes[offset..<offset + length]))
        }
    }

    /// Returns at most `length` bytes.
    func read(at offset: Int, count length: Int) -> [UInt8] {
        guard offset >= 0, length > 0, offset < count else { return [] }
        let length = min(length, count - offset)
        switch storage {
        case .memory(let bytes): return Array(bytes[offset..<offset + length])
        case .file(let descriptor, let start):
            return [UInt8](unsafeUninitializedCapacity: length) { buffer, done in
                done = 0
                while done < length {
                    let result = pread(
                        descriptor.raw, buffer.baseAddress.map { $0 + done }, length - done,
                        off_t(start + offset + done))
                    if result < 0, errno == EINTR { continue }
                    guard result > 0 else { return }
                    done += result
                }
            }
        }
    }

    /// Calls the body with the source for a C decoder; nil for a source in memory.
    func withCSource<Result>(_ body: (picture_source) -> Result) -> Result? {
        guard case .file(let descriptor, let start) = storage else { return nil }
        return withExtendedLifetime(descriptor) {
            body(picture_source(descriptor: descriptor.raw, offset: Int64(start), length: Int64(count)))
        }
    }
}

extension [UInt8] {
    /// Returns an unsigned number of 2 or 4 bytes; nil if it is outside the array.
    func number(at offset: Int, bytes: Int, isLittleEndian: Bool = false) -> Int? {
        guard offset >= 0, offset <= count - bytes else { return nil }
        var value = 0
        for index in 0..<bytes {
            let byte = self[offset + (isLittleEndian ? bytes - 1 - index : index)]
            value = value << 8 | Int(byte)
        }
        return value
    }
}
