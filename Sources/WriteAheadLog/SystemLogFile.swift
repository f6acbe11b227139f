// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// An open file in the system's file system.
final class SystemLogFile: LogFile {
    private let file: OwnedDescriptor
    private var descriptor: Int32 { file.number }
    private let path: String

    /// Takes ownership of a descriptor.
    init(adopting file: OwnedDescriptor, path: String) {
        self.file = file
        self.path = path
    }

    func size() throws(LogFileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("examining") }
        // A folder or a device in place of the file must not be read from.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw LogFileError(operation: "examining", path: path, code: EINVAL)
        }
        return Int(status.st_size)
    }

    func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let part = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[filled..<count]))
                let got = pread(descriptor, part.baseAddress, part.count, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { failed = true }
                if got <= 0 { return }
                filled += got
            }
        }
        if failed { throw failure("reading") }
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
        while true {
            let written = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if written >= 0 { return written }
            if errno != EINTR { throw failure("writing") }
        }
    }

    func synchronize() throws(LogFileError) {
        // Not retried on any error, including EINTR: a second fdatasync does not restore what a
        // failed one lost.
        guard fdatasync(descriptor) == 0 else { throw failure("fdatasync") }
    }

    func truncate(to size: Int) throws(LogFileError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure("truncating") }
    }

    private func failure(_ operation: String) -> LogFileError {
        LogFileError(operation: operation, path: path, code: errno)
    }
}
