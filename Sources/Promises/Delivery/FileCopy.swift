// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import SystemSupport

/// A copy of a regular file: made by sharing its blocks (reflink) if the file system supports that,
/// or else inside the kernel (copy_file_range), or else through memory. Holes are preserved.
struct FileCopy {
    let source: Int32
    /// The status of the source before the copy. Exactly this length must arrive.
    let status: stat
    let output: ByteSink
    let pace: Pace

    private var length: UInt64 { UInt64(max(0, status.st_size)) }
    private var path: String { output.path }

    /// The size of a piece, in bytes. A piece takes a few milliseconds; after each, the copy can be
    /// cancelled and reports progress.
    private static let pieceBytes: UInt64 = 16 << 20
    private static let bufferBytes = 256 << 10
    /// The unit of `st_blocks`, in bytes, independent of the file system's block size.
    private static let countedBlockBytes: UInt64 = 512

    /// The space that a copy needs on the device, in bytes. A file with holes needs less than its
    /// length.
    var neededBytes: UInt64 { min(length, UInt64(max(0, status.st_blocks)) * Self.countedBlockBytes) }

    /// Clones the file by sharing its blocks. Returns `false` if the file system does not support
    /// that.
    func clone() throws(PromiseError) -> Bool {
        guard length > 0, cfiles_clone(output.number, source) == 0 else { return false }
        var copied = stat()
        guard fstat(output.number, &copied) == 0 else { throw writing(errno) }
        let count = UInt64(max(0, copied.st_size))
        guard count == length else { throw .wrongLength(expected: length, received: count) }
        pace.control?.moved(length)
        return true
    }

    /// Copies the whole file.
    ///
    /// - Throws: ``PromiseError``: `wrongLength` if the source grew or shrank during the copy.
    func copy() throws(PromiseError) {
        try pace.checkCancelled()
        var isInKernel = true
        if length > neededBytes, let own = ownDescriptor {
            try copyData(own.number, &isInKernel)
        } else {
            let end = try copy(0, length, &isInKernel)
            guard end == length else { throw .wrongLength(expected: length, received: end) }
        }
        try checkLength()
    }

    /// Sets the copy's modification time to the original's, like a file manager.
    func keepTime() {
        Self.setTime(of: output.number, as: status)
    }

    /// Sets a file's modification time. Errors are ignored.
    static func setTime(of descriptor: Int32, as status: stat) {
        // UTIME_OMIT, which Swift does not import, leaves the access time unchanged.
        let omitted = timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe)
        _ = futimens(descriptor, [omitted, status.st_mtim])
    }

    /// A descriptor with its own position. Searching for holes moves the position, and the original
    /// descriptor's position is shared with the provider.
    private var ownDescriptor: OwnedDescriptor? {
        let number = open("/proc/self/fd/\(source)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        return number >= 0 ? OwnedDescriptor(adopting: number) : nil
    }

    /// Copies the parts that are not holes.
    private func copyData(_ own: Int32, _ isInKernel: inout Bool) throws(PromiseError) {
        guard ftruncate(output.number, off_t(length)) == 0 else { throw writing(errno) }
        var offset: UInt64 = 0
        while offset < length {
            let data = cfiles_next_data(own, Int64(offset))
            if data == -Int64(ENXIO) { break }
            guard data >= 0 else { throw reading(Int32(-data)) }
            let start = UInt64(data)
            guard start < length else { break }
            let hole = cfiles_next_hole(own, data)
            guard hole >= 0 else { throw reading(Int32(-hole)) }
            let end = min(length, max(UInt64(hole), start + 1))
            let reached = try copy(start, end, &isInKernel)
            guard reached == end else { throw .wrongLength(expected: length, received: reached) }
            offset = end
        }
    }

    /// Copies a range.
    ///
    /// - Returns: The offset at which the source ended, or the end of the range.
    private func copy(_ start: UInt64, _ end: UInt64, _ isInKernel: inout Bool) throws(PromiseError) -> UInt64 {
        var offset = start
        while isInKernel, offset < end {
            try pace.checkCancelled()
            let count = cfiles_copy_range(
                source, Int64(offset), output.number, Int64(offset), min(Self.pieceBytes, end - offset))
            if count == 0 { return offset }
            if count > 0 {
                offset += UInt64(count)
                pace.control?.moved(UInt64(count))
            } else if [ENOSPC, EDQUOT, EFBIG].contains(Int32(-count)) {
                throw writing(Int32(-count))
            } else {
                // The kernel cannot copy between these two files. Any other error will also occur
                // when reading or writing.
                isInKernel = false
            }
        }
        return offset < end ? try copyThroughMemory(offset, end) : offset
    }

    private func copyThroughMemory(_ start: UInt64, _ end: UInt64) throws(PromiseError) -> UInt64 {
        var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
        var offset = start
        while offset < end {
            try pace.checkCancelled()
            let wanted = min(buffer.count, Int(clamping: end - offset))
            let count = buffer.withUnsafeMutableBytes { pread(source, $0.baseAddress, wanted, off_t(offset)) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw reading(errno) }
            if count == 0 { return offset }
            let written = buffer[..<count].withUnsafeBytes {
                WholeTransfer.write($0, to: output.number, at: Int(offset))
            }
            if case .failure(let error) = written { throw writing(error.code) }
            offset += UInt64(count)
            pace.control?.moved(UInt64(count))
        }
        return offset
    }

    /// Checks that the source's length is unchanged. Files that the kernel generates may have more
    /// content than their length.
    private func checkLength() throws(PromiseError) {
        var (now, byte) = (stat(), UInt8(0))
        guard fstat(source, &now) == 0 else { throw reading(errno) }
        let count = UInt64(max(0, now.st_size))
        guard count == length else { throw .wrongLength(expected: length, received: count) }
        guard pread(source, &byte, 1, off_t(length)) == 0 else {
            throw .wrongLength(expected: length, received: length + 1)
        }
    }

    private func reading(_ code: Int32) -> PromiseError {
        .inputOutput(operation: "Reading the content for", path: path, code: code)
    }

    private func writing(_ code: Int32) -> PromiseError {
        .inputOutput(operation: "Writing to", path: path, code: code)
    }
}
