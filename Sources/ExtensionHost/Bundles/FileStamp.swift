// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The identity of one version of a file, determined without reading the file.
public struct FileStamp: Hashable, Sendable, Codable {
    /// The device number of the file system.
    public var device: UInt64
    /// The inode number.
    public var inode: UInt64
    /// The size, in bytes.
    public var size: Int64
    /// The time of the last content change, in nanoseconds since 1970.
    public var modified: Int64
    /// The time of the last change to the content, mode or names, in nanoseconds since 1970. Only
    /// root can set it.
    public var changed: Int64

    /// Creates the stamp of the file at a path, or of the symbolic link there; `nil` if there is
    /// none.
    package init?(ofPath path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        (self.device, self.inode, self.size, self.modified, self.changed) = (device, inode, size, modified, changed)
    }

    /// Combines the stamps of several files into one. Returns `nil` if there are none.
    init?(of stamps: [FileStamp]) {
        guard var all = stamps.first else { return nil }
        for stamp in stamps.dropFirst() {
            // Multiplication makes the result depend on the order, so swapping two files changes
            // the stamp.
            all.inode = all.inode &* 0x100_0000_01B3 ^ stamp.inode
            all.size = all.size &* 31 &+ stamp.size
            all.modified = all.modified &* 31 &+ stamp.modified
            all.changed = max(all.changed, stamp.changed)
        }
        self = all
    }

    static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ Int64(time.tv_nsec)
    }

    /// The current time on the file system's clock, in nanoseconds since 1970.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    // MARK: Coding in the cache

    func encode(to bytes: inout [UInt8]) {
        for number in [
            device, inode, UInt64(bitPattern: size), UInt64(bitPattern: modified), UInt64(bitPattern: changed),
        ] {
            bytes.append(number: number)
        }
    }

    init(_ reader: inout ByteReader) throws(PropertyValue.Malformed) {
        device = try reader.number()
        inode = try reader.number()
        size = Int64(bitPattern: try reader.number())
        modified = Int64(bitPattern: try reader.number())
        changed = Int64(bitPattern: try reader.number())
    }
}

/// A short content digest (FNV-1a, 64 bits). It is not collision resistant against an attacker.
enum Digest {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
