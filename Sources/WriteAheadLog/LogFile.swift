// SPDX-License-Identifier: Apache-2.0

/// An open file, which is closed when the last reference to it is released. All functions block.
package protocol LogFile: Sendable {
    /// Returns the current length, in bytes.
    func size() throws(LogFileError) -> Int
    /// Reads up to `count` bytes at `offset`; returns fewer only at the end of the file.
    func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8]
    /// Writes bytes at `offset`. Returns the number of bytes written, which may be less than
    /// requested.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int
    /// Makes contents and length durable (`fdatasync`).
    func synchronize() throws(LogFileError)
    /// Truncates the file, or extends it with zero bytes.
    func truncate(to size: Int) throws(LogFileError)
}

extension LogFile {
    /// Writes all bytes, in as many steps as necessary.
    package func writeAll(_ bytes: [UInt8], at offset: Int) throws(LogFileError) {
        var done = 0
        while done < bytes.count {
            let written = try bytes.withUnsafeBytes { buffer in
                Result { () throws(LogFileError) in
                    try write(UnsafeRawBufferPointer(rebasing: buffer[done...]), at: offset + done)
                }
            }.get()
            // Writing to a regular file never returns 0 without an error; this check prevents an
            // endless loop.
            guard written > 0 else { throw LogFileError(operation: "writing", path: "", code: 5) }
            done += written
        }
    }
}
