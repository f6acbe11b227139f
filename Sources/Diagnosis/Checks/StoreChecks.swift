// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Checks the location and permissions of the index, and its disk.
enum StoreChecks {
    static func findings(_ facts: StoreFacts) -> [Finding] {
        let folder = facts.folder
        guard folder.isFolder else {
            return [
                .problem(
                    .store, "folder", "The store would be at \(folder.path), and \(folder.nearest) is no folder.",
                    costs: "Nothing can be indexed or found.",
                    advice: "Move it away, or name another store with --store.")
            ]
        }
        var findings = [access(facts)]
        if folder.exists { findings += privacy(facts) }
        return findings + [fileSystem(facts.mount), room(facts), disk(facts)].compactMap { $0 } + marks(facts.marks)
    }

    private static func marks(_ marks: StoreMarks) -> [Finding] {
        var findings: [Finding] = []
        if marks.isDamaged {
            findings.append(
                .problem(
                    .store, "damage", "Damage was met in the index since all of it was checked.",
                    costs: "Items may be missing or in another order until the index is repaired.",
                    advice: "Repair it: searchlight verify --repair"))
        }
        if !marks.learns {
            findings.append(
                .note(
                    .store, "learning", "Learning is off: what you use is not counted.",
                    costs: "Searches do not show sooner what you use often.",
                    advice: "If you want that, switch it on: searchlight history on"))
        }
        return findings
    }

    private static func access(_ facts: StoreFacts) -> Finding {
        let folder = facts.folder
        guard folder.isWritable, facts.mount?.isReadOnly != true else {
            return .problem(
                .store, "folder",
                "The store \(folder.path) cannot be written: \(folder.nearest) is not yours to change.",
                costs: folder.exists ? "What apps donate is refused." : "No index can be made.",
                advice: "Check who owns it and how it is mounted, or name another store with --store.")
        }
        guard folder.exists else {
            return .ok(.store, "folder", "There is no store yet; it will be made at \(folder.path).")
        }
        guard facts.database != nil else {
            return .ok(.store, "folder", "The store at \(folder.path) has no index yet.")
        }
        return .ok(.store, "folder", "The store is at \(folder.path).")
    }

    private static func privacy(_ facts: StoreFacts) -> [Finding] {
        let folder = facts.folder
        guard folder.owner == folder.user else {
            return [
                .problem(
                    .store, "owner", "The store belongs to user \(folder.owner), and you are \(folder.user).",
                    costs: "Whoever owns it can read and change what your apps donate.",
                    advice: "Use it as its owner, or name a store of your own with --store.")
            ]
        }
        guard folder.mode & 0o077 == 0 else {
            let mode = String(folder.mode, radix: 8)
            let canChange = folder.mode & 0o022 != 0
            return [
                .problem(
                    .store, "permissions", "The store's folder is open to others (mode \(mode)).",
                    costs: canChange
                        ? "Others can replace your index, and read it." : "Others may see what your apps donated.",
                    advice: "Close it: chmod 700 \(folder.path)")
            ]
        }
        return [.ok(.store, "permissions", "Only you can look into it (mode 700).")]
    }

    /// Network file systems, and file systems without owners. SQLite's WAL uses shared memory,
    /// which works on one machine only.
    private static let remote: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gfs2", "ocfs2", "fuse.sshfs",
        "fuse.glusterfs", "fuse.rclone", "fuse.davfs", "davfs", "fuse.s3fs", "virtiofs", "vboxsf", "vmhgfs",
        "fuse.vmhgfs-fuse",
    ]
    private static let withoutOwners: Set<String> = ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"]

    private static func fileSystem(_ mount: Mount?) -> Finding? {
        guard let mount else { return nil }
        let fact = "The store is on \(mount.kind), mounted at \(mount.point)."
        let advice = "Put it on a disk of this machine: set SEARCHLIGHT_STORE."
        if remote.contains(mount.kind) {
            return .problem(
                .store, "file-system", fact,
                costs: "SQLite's log (WAL) needs memory shared on one machine; the index may be damaged there.",
                advice: advice)
        }
        if withoutOwners.contains(mount.kind) {
            return .problem(
                .store, "file-system", fact, costs: "Files have no owners there, so that others can read the index.",
                advice: advice)
        }
        if ["tmpfs", "ramfs"].contains(mount.kind) {
            return .note(
                .store, "file-system", fact, costs: "The index is gone when the machine restarts.", advice: advice)
        }
        return .ok(.store, "file-system", fact)
    }

    /// The minimum free space in bytes; below it the index cannot write a batch.
    static let leastRoom: UInt64 = 64 << 20

    private static func room(_ facts: StoreFacts) -> Finding? {
        guard let free = facts.free else { return nil }
        let fact = "\(mebibytes(free)) are free on its disk"
        let advice = "Make space there."
        if free < leastRoom {
            return .problem(
                .store, "room", "\(fact).", costs: "What apps donate may be refused for lack of space.", advice: advice)
        }
        if free < facts.floor {
            return .note(
                .store, "room", "\(fact), less than the floor of \(mebibytes(facts.floor)).",
                costs: "Nothing is done in the background until there is more.", advice: advice)
        }
        return .ok(.store, "room", "\(fact).")
    }

    private static func mebibytes(_ bytes: UInt64) -> String {
        bytes >> 30 >= 10 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }

    /// The disk schedulers with an idle class.
    private static let idleSchedulers: Set<String> = ["bfq", "mq-deadline", "cfq"]

    private static func disk(_ facts: StoreFacts) -> Finding? {
        guard let scheduler = facts.diskScheduler else { return nil }
        guard !idleSchedulers.contains(scheduler) else {
            return .ok(.store, "disk-scheduler", "Its disk's scheduler, \(scheduler), lets idle work wait.")
        }
        return .note(
            .store, "disk-scheduler", "Its disk's scheduler, \(scheduler), knows no idle class.",
            costs: "Reading and writing in the background waits for nobody; quick disks hardly show it.",
            advice: "On a slow disk choose bfq or mq-deadline.")
    }
}
