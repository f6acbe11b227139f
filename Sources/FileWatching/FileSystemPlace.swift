// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// Which file system an open file is on, and where that is mounted.
///
/// A disk is known by its identity, which stays the same over restarts and after it was away: the number of the file system
/// where that comes from the disk (ext, Btrfs, ZFS); else the UUID under `/dev/disk/by-uuid` (XFS, FAT, exFAT); else type,
/// source and root of the mount (NFS, FUSE, tmpfs). What that means for the files that are known is in ``DiskJudgement``.
struct FileSystemPlace: Hashable {
    /// Says which file system it is.
    let identity: String
    /// Where it is mounted, without links; `/` where that is not known.
    let mountPoint: String
    /// What kind of file system it is.
    let kind: FileSystemKind
    /// A number for the identity.
    let number: Int64

    init(identity: String, mountPoint: String, kind: FileSystemKind = FileSystemKind(type: 0)) {
        (self.identity, self.mountPoint, self.kind) = (identity, mountPoint, kind)
        var digest = StableDigest()
        digest.add(identity)
        number = digest.value
    }

    /// Looks at an open file; `nil` if the system does not say. Reads small files below `/proc` and, for some file systems,
    /// the names of the disks.
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

    /// The UUID of the disk with a device number.
    private static func diskName(of device: dev_t) -> String? {
        let folder = "/dev/disk/by-uuid"
        // Numbers without a device are made up for network and other file systems.
        guard device >> 8 != 0, let names = try? BoundedFile.names(in: folder, limit: maximumDisks) else { return nil }
        return names.first { name in
            var status = stat()
            return stat(folder + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFBLK
                && status.st_rdev == device
        }
    }
}

/// What is to be known of a type of file systems.
struct FileSystemKind: Hashable {
    /// As statfs(2) says it.
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

    /// How far apart the times of a kernel are at most, and some more.
    private static let tick: Int64 = 20_000_000

    /// Whether its number is that of the disk. Others make it from the device, or anew at each mount.
    var keepsNumber: Bool { [Self.ext, Self.btrfs, Self.zfs].contains(type) }
    /// Whether files have the same numbers after it was mounted again.
    var keepsInodes: Bool {
        ![Self.fat, Self.exFAT, Self.fuse, Self.smb, Self.smb2, Self.cifs, Self.plan9].contains(type)
    }
    /// Whether others change files without the kernel's knowing: other machines, or a process behind FUSE.
    var isShared: Bool {
        [Self.nfs, Self.fuse, Self.smb, Self.smb2, Self.cifs, Self.plan9, Self.ceph, Self.afs].contains(type)
    }

    /// Two changes of a file in less than these nanoseconds may have one time.
    ///
    /// - Parameter isExact: Whether the kernel gives a file that was looked at a time of its own at its next change, on the
    ///   file systems that can do so (Linux 6.13).
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

/// What the file system at a place says of the files that are known to be there.
///
/// A disk that is away removes nothing. So absence counts only on the same file system. Another one at the place counts once
/// there is something on it, since a person has put it there; and the folder onto which a disk was mounted counts once it
/// holds one of the files that are known there, since a person has copied them. Until then all stay as they were.
enum DiskJudgement: Hashable {
    /// It is the one: what is not there was removed.
    case same
    /// Another one is mounted at the place, or the same one is shown from farther up. It counts if it holds anything.
    case other
    /// The place is part of what is above it. It counts if it holds a file that is known.
    case away

    init(_ found: FileSystemPlace, known: KnownPlace) {
        let isThere = lies(found.mountPoint, in: known.mountPoint)
        self.init(isSame: found.identity == known.identity, isThere: isThere)
    }

    /// - Parameter isThere: Whether something is mounted where the disk was, or below.
    init(isSame: Bool, isThere: Bool) { self = isSame ? (isThere ? .same : .other) : (isThere ? .other : .away) }
}

/// Where files were when they were last compared.
struct KnownPlace: Hashable, Sendable {
    var identity: String
    var mountPoint: String
}

/// Whether files have exact times, by the release of the kernel.
enum ExactTimes {
    static let areKept: Bool = {
        var names = utsname()
        guard uname(&names) == 0 else { return false }
        let release = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 13)
    }()
}
