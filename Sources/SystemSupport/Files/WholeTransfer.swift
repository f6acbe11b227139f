// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The error code of a failed system call.
package struct ErrnoCode: Error, Hashable {
    package let code: Int32
    package init(_ code: Int32) { self.code = code }
}

/// Complete reads and writes: calls interrupted by a signal are repeated, and short transfers are
/// continued. For blocking descriptors. May be used from any thread.
package enum WholeTransfer {
    /// The maximum size of a single read when the buffer grows with the received bytes.
    private static let pieceBytes = 64 << 10

    /// Fills a buffer, or only its beginning if the file ends earlier.
    ///
    /// - Parameter offset: The start offset; `nil` to use and advance the file position.
    /// - Returns: The number of bytes read.
    package static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int? = nil
    ) -> Result<Int, ErrnoCode> {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count =
                if let offset { pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done)) } else {
                    Glibc.read(descriptor, rest.baseAddress, rest.count)
                }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .failure(ErrnoCode(errno)) }
            if count == 0 { break }
            done += count
        }
        return .success(done)
    }

    /// Reads up to a number of bytes, growing the buffer with the received bytes.
    ///
    /// - Parameter offset: The start offset; `nil` to use and advance the file position.
    package static func bytes(
        of descriptor: Int32, upTo limit: Int, at offset: Int? = nil
    ) throws(ErrnoCode) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, pieceBytes))
        while bytes.count < limit {
            let wanted = min(piece.count, limit - bytes.count)
            let place = offset.map { $0 + bytes.count }
            let count = try piece.withUnsafeMutableBytes {
                read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: place)
            }.get()
            bytes += piece[..<count]
            if count < wanted { break }
        }
        return bytes
    }

    /// Writes all bytes. If the disk fills up, some of them may have been written.
    ///
    /// - Parameter offset: The start offset; `nil` to use and advance the file position.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int? = nil
    ) -> Result<Void, ErrnoCode> {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count =
                if let offset { pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done)) } else {
                    Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .failure(ErrnoCode(count < 0 ? errno : ENOSPC)) }
            done += count
        }
        return .success(())
    }
}
