// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// The file system of an open file, and its mount point.
///
/// The identity of a file system survives restarts and unmounting. It is the first of the following
/// that is available:
///
/// 1. The file system's ID, if it is stored on the disk (ext, Btrfs, ZFS).
/// 2. The UUID under `/dev/disk/by-uuid` (XFS, FAT, exFAT).
/// 3. The type, source and root of the mount (NFS, FUSE, tmpfs).
///
/// ``DiskJudgement`` determines what the identity implies for the known files.
struct FileSystemPlace: Hashable {
    /// The identity of the file system.
    let identity: String
    /// The mount point without symbolic links; `/` if it is unknown.
    let mountPoint: String
    /// The kind of the file system.
    let kind: FileSystemKind
    /// A digest of the identity.
    let number: Int64

    init(identity: String, mountPoint: String, kind: FileSystemKind = FileSystemKind(type: 0)) {
        (self.identity, self.mountPoint, self.kind) = (identity, mountPoint, kind)
        var digest = StableDigest()
        digest.add(identity)
        number = digest.value
    }

    /// Determines the file system of an open file; `nil` if the system does not report it. Reads
    /// small files in `/proc` and, for some file systems, the names of the disks.
    init?(of file: OwnedDescriptor) {
        var (fileSystem, type): (UInt64, Int64) = (0, 0)
        var status = stat()
        guard csystem_file_system(file.number, &fileSystem, &type) == 0, fstat(file.number, &status) == 0 else {
            return nil
        }
        let kind = FileSystemKind(type: type)
        let mount = MountEntry(of: file)
        let identity =
            if kind.keepsNumber, fileSystem != 0 {
                "number " + String(fileSystem, radix: 16)
            } else if let name = Self.diskName(of: status.st_dev) {
                "disk " + name
            } else if let mount {
                "mount \(mount.type) \(mount.source) \(mount.root)"
            } else {
                "device \(status.st_dev)"
            }
        self.init(identity: identity, mountPoint: mount?.point ?? "/", kind: kind)
    }

    private static let maximumDisks = 1024

    /// Returns the UUID of the disk that has a device number.
    private static func diskName(of device: dev_t) -> String? {
        let folder = "/dev/disk/by-uuid"
        // Network and virtual file systems have device numbers whose major number is 0.
        guard device >> 8 != 0, let names = try? BoundedFile.names(in: folder, limit: maximumDisks) else { return nil }
        return names.first { name in
            var status = stat()
            return stat(folder + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFBLK
                && status.st_rdev == device
        }
    }
}

/// The properties of a file system type.
struct FileSystemKind: Hashable {
    /// The magic number that statfs(2) reports.
    let type: Int64

    private static let ext: Int64 = 0xEF53
    private static let btrfs: Int64 = 0x9123_683E
    private static let zfs: Int64 = 0x2FC1_2FC1
    private static let xfs: Int64 = 0x5846_5342
    private static let tmpfs: Int64 = 0x0102_1994
    private static let fat: Int64 = 0x4D44
    private static let exFAT: Int64 = 0x2011_BAB0
    private static let fuse: Int64 = 0x6573_5546
    private static let nfs: Int64 = 0x6969
    private static let smb: Int64 = 0x517B
    private static let smb2: Int64 = 0xFE53_4D42
    private static let cifs: Int64 = 0xFF53_4D42
    private static let plan9: Int64 = 0x0102_1997
    private static let ceph: Int64 = 0x00C3_6400
    private static let afs: Int64 = 0x5346_414F

    /// The maximum interval between two kernel clock ticks, in nanoseconds, with a margin.
    private static let tick: Int64 = 20_000_000

    /// `true` if the file system's ID is stored on the disk. Other file systems derive it from the
    /// device, or create a new one at each mount.
    var keepsNumber: Bool { [Self.ext, Self.btrfs, Self.zfs].contains(type) }
    /// `true` if files keep their inode numbers when the file system is mounted again.
    var keepsInodes: Bool {
        ![Self.fat, Self.exFAT, Self.fuse, Self.smb, Self.smb2, Self.cifs, Self.plan9].contains(type)
    }
    /// `true` if files can change without the local kernel's knowledge: through other machines, or
    /// through a FUSE process.
    var isShared: Bool {
        [Self.nfs, Self.fuse, Self.smb, Self.smb2, Self.cifs, Self.plan9, Self.ceph, Self.afs].contains(type)
    }

    /// Returns the interval, in nanoseconds, within which two changes to a file may get the same
    /// time.
    ///
    /// - Parameter isExact: `true` if the kernel assigns a distinct time to the next change after a
    ///   file's times were read. Linux 6.13 does this on some file systems.
    func granularity(isExact: Bool) -> Int64 {
        switch type {
        case Self.ext, Self.btrfs, Self.xfs, Self.tmpfs: isExact ? 0 : Self.tick
        case Self.fat, Self.exFAT: 2_000_000_000
        default: isShared ? 2_000_000_000 : Self.tick
        }
    }
}

/// A line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
private struct MountEntry {
    let root: String
    let point: String
    let type: Substring
    let source: String

    private static let maximumBytes = 4 << 20

    init?(of file: OwnedDescriptor) {
        guard
            let facts = try? BoundedFile.regular("/proc/self/fdinfo/\(file.number)", limit: 64 << 10),
            let number = String(decoding: facts, as: UTF8.self).split(separator: "\n")
                .first(where: { $0.utf8.starts(with: "mnt_id:".utf8) })?.dropFirst(7)
                .split(whereSeparator: \.isWhitespace).first,
            let table = try? BoundedFile.regular("/proc/self/mountinfo", limit: Self.maximumBytes)
        else { return nil }
        let start = Array(number.utf8) + [UInt8(ascii: " ")]
        let line = table.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
        guard let fields = line.map({ String(decoding: $0, as: UTF8.self).split(separator: " ") }), fields.count >= 6,
            let end = fields.firstIndex(of: "-"), end + 2 < fields.count
        else { return nil }
        root = MountPoints.unescaped(fields[3])
        point = MountPoints.unescaped(fields[4])
        type = fields[end + 1]
        source = MountPoints.unescaped(fields[end + 2])
    }
}

/// The meaning of a file system at a path for the files that are known there.
///
/// Unmounting a file system does not remove files, so a missing file is treated as removed only if
/// the same file system is mounted. There are two exceptions. A different file system that is not
/// empty replaces the known files, because the user mounted it there. The bare mount point does so
/// too if it contains one of the known files, because the user copied them. In all other cases, all
/// known files are kept.
enum DiskJudgement: Hashable {
    /// The same file system is mounted: a file that does not exist was removed.
    case same
    /// A different file system is mounted at the path, or the same one from a higher folder. Files
    /// that are missing there are treated as removed if that file system is not empty.
    case other
    /// Nothing is mounted at the path. Files that are missing there are treated as removed if the
    /// mount point contains a known file.
    case away

    init(_ found: FileSystemPlace, known: KnownPlace) {
        let isThere = lies(found.mountPoint, in: known.mountPoint)
        self.init(isSame: found.identity == known.identity, isThere: isThere)
    }

    /// - Parameter isThere: `true` if something is mounted at the known mount point or below it.
    init(isSame: Bool, isThere: Bool) { self = isSame ? (isThere ? .same : .other) : (isThere ? .other : .away) }
}

/// The file system and mount point of files at the last comparison.
struct KnownPlace: Hashable, Sendable {
    var identity: String
    var mountPoint: String
}

/// Determines whether the kernel supports exact file times (multigrain timestamps), by release.
enum ExactTimes {
    static let areKept: Bool = {
        var names = utsname()
        guard uname(&names) == 0 else { return false }
        let release = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 13)
    }()
}
