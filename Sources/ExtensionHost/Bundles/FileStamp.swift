// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What tells one state of a file from another without reading it.
public struct FileStamp: Hashable, Sendable, Codable {
    /// The file system.
    public var device: UInt64
    /// The file in it.
    public var inode: UInt64
    /// In bytes.
    public var size: Int64
    /// When its content was changed, in nanoseconds since 1970.
    public var modified: Int64
    /// When anything of it was changed, its mode and names too, in nanoseconds since 1970. Nobody but root can set it.
    public var changed: Int64

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

    /// The stamp of several files as of one; `nil` for none.
    init?(of stamps: [FileStamp]) {
        guard var all = stamps.first else { return nil }
        for stamp in stamps.dropFirst() {
            // Multiplied, so that two files that change places are told apart.
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

    /// The present on the clock of the stamps.
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

/// A short digest by which contents are told apart (FNV-1a, 64 bits). It is no proof against somebody who tries.
enum Digest {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
