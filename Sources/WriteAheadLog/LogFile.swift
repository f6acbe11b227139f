// SPDX-License-Identifier: Apache-2.0

/// An open file, closed when the last reference goes. All functions block.
package protocol LogFile: Sendable {
    /// The length now, in bytes.
    func size() throws(LogFileError) -> Int
    /// Reads up to `count` bytes at `offset`; fewer only where the file ends.
    func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8]
    /// Writes bytes at `offset` and returns how many were written, which may be fewer than asked for.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int
    /// Makes contents and length durable (`fdatasync`).
    func synchronize() throws(LogFileError)
    /// Cuts the file, or extends it with zero bytes.
    func truncate(to size: Int) throws(LogFileError)
}

extension LogFile {
    /// Writes all bytes, in as many steps as it takes.
    func writeAll(_ bytes: [UInt8], at offset: Int) throws(LogFileError) {
        var done = 0
        while done < bytes.count {
            let written = try bytes.withUnsafeBytes { buffer in
                Result { () throws(LogFileError) in
                    try write(UnsafeRawBufferPointer(rebasing: buffer[done...]), at: offset + done)
                }
            }.get()
            // A regular file never takes nothing without a reason; do not loop if one does.
            guard written > 0 else { throw LogFileError(operation: "writing", path: "", code: 5) }
            done += written
        }
    }
}
