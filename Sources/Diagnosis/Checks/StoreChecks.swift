// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine

/// Checks the location and permissions of the index, and its disk.
enum StoreChecks {
    static func findings(_ facts: StoreFacts) -> [Finding] {
        let folder = facts.folder
        guard folder.isFolder else {
            return [
                .problem(
                    .store, "folder", "The store cannot be at \(folder.path): \(folder.nearest) is not a folder.",
                    costs: "Nothing can be indexed or found.",
                    advice: "Move \(folder.nearest) away, or name another store with --store.")
            ]
        }
        var findings = [access(facts)]
        if folder.exists { findings += privacy(facts) }
        return findings + [fileSystem(facts.mount), room(facts), disk(facts)].compactMap { $0 }
            + marks(facts.marks, folder.path)
    }

    private static func marks(_ marks: StoreMarks, _ folder: String) -> [Finding] {
        var findings: [Finding] = []
        if let damage = marks.refusedRepair {
            findings.append(
                .problem(
                    .store, "refused-repair",
                    "The index is damaged (\(damage)), and its repair may lose items that no extension donates again.",
                    costs: "What apps donate is refused, and items may be missing.",
                    advice: "Copy \(folder) or donate again what you can; then: searchlight verify --repair"))
        } else if marks.isDamaged {
            findings.append(
                .problem(
                    .store, "damage", "Damage was found in the index after the last complete check.",
                    costs: "Items may be missing or in a different order.",
                    advice: "Repair it: searchlight verify --repair"))
        }
        if let problem = marks.protectionProblems.first {
            let count = marks.protectionProblems.count
            findings.append(
                .problem(
                    .store, "protection",
                    count == 1 ? problem : "\(problem) There are \(count - 1) more such problems.",
                    costs: "Protected items cannot be unlocked or may be missing.",
                    advice: "To see all problems: searchlight verify"))
        }
        if !marks.learns {
            findings.append(
                .note(
                    .store, "learning", "Learning is off: use of items is not counted.",
                    costs: "Searches do not rank often used items higher.",
                    advice: "To switch it on: searchlight history on"))
        }
        return findings
    }

    private static func access(_ facts: StoreFacts) -> Finding {
        let folder = facts.folder
        guard folder.isWritable, facts.mount?.isReadOnly != true else {
            return .problem(
                .store, "folder",
                "The store \(folder.path) cannot be written: you have no write access to \(folder.nearest).",
                costs: folder.exists ? "Donations of apps fail." : "No index can be created.",
                advice: "Check its owner and its mount options, or name another store with --store.")
        }
        guard folder.exists else {
            return .ok(.store, "folder", "There is no store yet; it will be created at \(folder.path).")
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
                    costs: "Its owner can read and change the donations of your apps.",
                    advice: "Use it as its owner, or name your own store with --store.")
            ]
        }
        guard folder.mode & 0o077 == 0 else {
            let mode = String(folder.mode, radix: 8)
            let canChange = folder.mode & 0o022 != 0
            return [
                .problem(
                    .store, "permissions", "Other users have access to the store's folder (mode \(mode)).",
                    costs: canChange
                        ? "Other users can replace and read your index." : "Other users can see your donations.",
                    advice: "Remove their access: chmod 700 \(folder.path)")
            ]
        }
        guard folder.mode & 0o700 == 0o700 else {
            return [
                .problem(
                    .store, "permissions",
                    "You lack access to the store's folder (mode \(String(folder.mode, radix: 8))).",
                    costs: "Searches and donations fail.", advice: "Restore your access: chmod 700 \(folder.path)")
            ]
        }
        return [.ok(.store, "permissions", "Only you have access to the store (mode 700).")]
    }

    /// Network file systems, and file systems without file owners. SQLite's WAL uses shared memory,
    /// which works only on a single machine.
    private static let remote: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gfs2", "ocfs2", "fuse.sshfs",
        "fuse.glusterfs", "fuse.rclone", "fuse.davfs", "davfs", "fuse.s3fs", "virtiofs", "vboxsf", "vmhgfs",
        "fuse.vmhgfs-fuse",
    ]
    private static let withoutOwners: Set<String> = ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"]

    private static func fileSystem(_ mount: Mount?) -> Finding? {
        guard let mount else { return nil }
        let fact = "The store is on \(mount.kind), mounted at \(mount.point)."
        let advice = "Use a store on a local disk: set SEARCHLIGHT_STORE."
        if remote.contains(mount.kind) {
            return .problem(
                .store, "file-system", fact,
                costs: "The index may be damaged: SQLite's log (WAL) needs shared memory on one machine.",
                advice: advice)
        }
        if withoutOwners.contains(mount.kind) {
            return .problem(
                .store, "file-system", fact,
                costs: "Other users can read the index: this file system has no file owners.",
                advice: advice)
        }
        if ["tmpfs", "ramfs"].contains(mount.kind) {
            return .note(
                .store, "file-system", fact, costs: "The index is lost when the machine restarts.", advice: advice)
        }
        return .ok(.store, "file-system", fact)
    }

    /// The minimum free space, in bytes. With less, the index cannot write a batch.
    static let leastRoom: UInt64 = 64 << 20

    private static func room(_ facts: StoreFacts) -> Finding? {
        guard let free = facts.free else { return nil }
        let fact = "The store's disk has \(mebibytes(free)) of free space"
        let advice = "Free space on the disk."
        if free < leastRoom {
            return .problem(
                .store, "room", "\(fact).", costs: "Donations may fail for lack of space.", advice: advice)
        }
        if free < facts.floor {
            return .note(
                .store, "room", "\(fact), less than the floor of \(mebibytes(facts.floor)).",
                costs: "No background work is done until there is more space.", advice: advice)
        }
        return .ok(.store, "room", "\(fact).")
    }

    private static func mebibytes(_ bytes: UInt64) -> String {
        bytes >> 30 >= 10 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }

    /// The disk schedulers that have an idle class.
    private static let idleSchedulers: Set<String> = ["bfq", "mq-deadline", "cfq"]

    private static func disk(_ facts: StoreFacts) -> Finding? {
        guard let scheduler = facts.diskScheduler else { return nil }
        guard !idleSchedulers.contains(scheduler) else {
            return .ok(
                .store, "disk-scheduler", "The scheduler of the store's disk, \(scheduler), supports idle priority.")
        }
        return .note(
            .store, "disk-scheduler", "The scheduler of the store's disk, \(scheduler), has no idle priority.",
            costs: "Background reads and writes have normal priority. On fast disks this is hardly noticeable.",
            advice: "On a slow disk, choose bfq or mq-deadline.")
    }
}
