// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// Is told of folders while a tree is compared, to watch them. On the thread of the comparison.
protocol FolderObserver: AnyObject {
    /// Watches an open folder before its names are read, so that a later change is reported.
    ///
    /// - Returns: The number of the watch; `nil` if the folder cannot be watched.
    func willRead(_ folder: OwnedDescriptor, _ number: FolderNumber) -> Int32?
    /// A folder was noted under a number; `nil` if it was not noted after all.
    func didNote(_ watch: Int32?, _ folder: Int64?, _ number: FolderNumber)
    /// Whether a folder is watched.
    func isWatched(_ folder: Int64) -> Bool
}

/// A folder that a walk has seen, to be noted.
struct SeenFolder {
    enum Origin {
        /// A folder with this number; 0 is above the root.
        case row(Int64)
        /// The folder at this place in the same batch.
        case seen(Int)
    }
    enum Target {
        case itself(Int64)
        case child(EntryName, of: Origin)
    }
    enum Finding {
        case content(FolderContent)
        /// It cannot be read.
        case unreadable
        /// It is none to be looked at.
        case excluded
    }
    var target: Target
    var finding: Finding
    /// Its path below the root.
    var path: String
    var number = FolderNumber(csystem_file())
    var born: Int64 = 0
    /// The identity of the file system that is mounted there; `nil` if there is none.
    var mount: String?
    /// Whether a watch was asked for, and which it is.
    var watch: Int32?
    var isObserved = false
}

/// What a snapshot knows of a folder.
struct FolderRow {
    let id: Int64
    let name: EntryName
    let inode: UInt64
    let born: Int64
    /// The identity of the file system that was mounted there.
    let mount: String?
    let state: FolderState
    /// Whether not all of it was read.
    let isPartial: Bool
    let digest: Int64?
}

/// Whether a folder is there.
enum FolderState: Int64 {
    case present = 0
    /// It is gone, and so are its files.
    case gone = 1
    /// It is gone; its files and folders are still to be noted as gone.
    case going = 2
}

/// Files of a folder that are known, to see whether they are at another place.
struct KnownSample {
    var path: String
    var size: Int64
    var modified: Int64
}

/// A walk through a tree, or a part of it. Only reads the disk, at most a batch at a time; what it has seen is then noted by a
/// ``ComparisonWriter``. Opens folders only. Holds a descriptor for each folder on the way from the root, 65 at most.
struct ComparisonWalk {
    /// A folder on the way.
    private struct Level {
        var descriptor: OwnedDescriptor
        var origin: SeenFolder.Origin
        /// Below the root.
        var path: String
        /// Names below the root.
        var depth: Int
        var place: FolderPlace
        /// Folders in it that are still to come.
        var subfolders: [EntryName]
        /// What is known of them, if only those that are others now are to be walked through.
        var known: [EntryName: FolderRow]?
    }

    /// What a snapshot knows before a walk.
    struct Knowledge {
        var tree: StoredTree
        /// Whether any file is known.
        var hasFiles: Bool
        /// The mounts in the tree by their path below the root.
        var mounts: [EntryName: (folder: Int64, identity: String)]
        /// Some files below a folder; of the whole tree for 0.
        var samples: (Int64) throws(FileWatchingError) -> [KnownSample]
    }

    /// How many folders and files a batch has, at most, unless one folder has more.
    static let (foldersAtOnce, filesAtOnce) = (512, 8192)

    private let knowledge: Knowledge
    private let excluded: Set<FolderNumber>
    private let observer: (any FolderObserver)?
    private var reader: FileReader
    private var levels: [Level] = []
    private var filesInBatch = 0
    /// What was seen and is not noted yet.
    private(set) var batch: [SeenFolder] = []
    /// The root is on this file system from now on.
    private(set) var newPlace: KnownPlace?
    /// Whether the root was removed.
    private(set) var isRootRemoved = false
    var report = TreeReport()

    init(
        _ knowledge: Knowledge, excluding excluded: [String], reader: FileReader, observer: (any FolderObserver)?
    ) {
        self.knowledge = knowledge
        self.excluded = Set(excluded.compactMap(FolderNumber.init(path:)))
        self.reader = reader
        self.observer = observer
    }

    private var root: String { knowledge.tree.rule.root }

    private func shown(_ path: String) -> String { path.isEmpty ? root : (root == "/" ? "" : root) + "/" + path }

    private static func below(_ path: String, _ name: EntryName) -> String {
        path.isEmpty ? name.text : path + "/" + name.text
    }

    // MARK: The root

    /// Looks at the root, once: the open descriptor answers all questions.
    mutating func begin() throws(FileWatchingError) {
        let opened: OwnedDescriptor
        do throws(ErrnoCode) { opened = try .place(root) } catch {
            if error.isAbsence { judgeAbsence() } else { report.note(error, at: root) }
            return
        }
        guard let place = FileSystemPlace(of: opened) else { return report.noteUnavailable(root) }
        switch Found("", in: opened.number) {
        case .folder(let described):
            do throws(ErrnoCode) {
                let folder = try OwnedDescriptor.folder(".", in: opened)
                try beginFolder(folder, described, place)
            } catch { report.note(error, at: root) }
        case .file(let described):
            if case .away = judgement(of: place), try !holdsSample(of: 0, in: opened, isRootFile: true) {
                return report.noteUnavailable(root)
            }
            accept(place)
            var content = FolderContent()
            let (state, isSettled) = reader.state(described, on: place, at: reader.conditions.now())
            content.add("", state)
            if !isSettled { content.unsettled.append("") }
            batch.append(SeenFolder(target: .child("", of: .row(0)), finding: .content(content), path: ""))
            report.files += 1
            report.isShared = report.isShared || place.kind.isShared
        default: report.noteUnavailable(root)
        }
    }

    private mutating func beginFolder(
        _ folder: OwnedDescriptor, _ described: csystem_file, _ place: FileSystemPlace
    ) throws(ErrnoCode) {
        enter(
            "", folder, described, path: "", depth: 0, parent: .row(0),
            FolderPlace(device: described.device, place: place),
            mount: nil, judgement: judgement(of: place), known: 0)
        guard !batch.isEmpty else { return }
        accept(place)
    }

    private func judgement(of place: FileSystemPlace) -> DiskJudgement {
        guard knowledge.hasFiles, let known = knowledge.tree.place else { return .same }
        return DiskJudgement(place, known: known)
    }

    private mutating func accept(_ place: FileSystemPlace) {
        let now = KnownPlace(identity: place.identity, mountPoint: place.mountPoint)
        if now != knowledge.tree.place { newPlace = now }
    }

    /// There is nothing at the path: whether it was removed.
    private mutating func judgeAbsence() {
        guard let known = knowledge.tree.place else { return }
        do throws(ErrnoCode) {
            let above = try OwnedDescriptor.nearest(root)
            guard !knowledge.hasFiles || FileSystemPlace(of: above).map({ DiskJudgement($0, known: known) }) == .same
            else { return report.noteUnavailable(root) }
            isRootRemoved = true
        } catch { report.note(error, at: root) }
    }

    // MARK: Some names

    /// The way to a folder, as a snapshot knows it.
    struct Way {
        var folder: Int64
        var names: [EntryName]
    }

    /// Looks at some names of a folder, or at all for `nil`, and walks through folders that are others than known.
    ///
    /// - Parameter known: The folders in it.
    mutating func begin(_ names: Set<EntryName>?, at way: Way, known: [EntryName: FolderRow]) {
        var descriptor: OwnedDescriptor
        var described = csystem_file()
        var place: FolderPlace
        var path = ""
        do throws(ErrnoCode) {
            let opened = try OwnedDescriptor.place(root)
            guard csystem_describe(opened.number, "", 0, &described) == 0, let found = FileSystemPlace(of: opened),
                let expected = knowledge.tree.place, DiskJudgement(found, known: expected) == .same
            else {
                // Not where it was: what that means is judged for the whole tree.
                report.needsWholeTree = true
                return
            }
            place = FolderPlace(device: described.device, place: found)
            descriptor = try .folder(".", in: opened)
            for name in way.names {
                path = Self.below(path, name)
                descriptor = try .folder(name.text, in: descriptor)
                let isMount = try self.isMount(descriptor, &described, &place)
                let mount = knowledge.mounts[EntryName(path)]?.identity
                guard mount == (isMount ? place.place.identity : nil) else {
                    report.needsWholeTree = true
                    return
                }
            }
        } catch {
            // A folder on the way that is gone is told by the one above.
            report.note(error, at: error.isAbsence ? nil : shown(path))
            return
        }
        let depth = way.names.count
        var content: FolderContent
        if let names {
            content = reader.content(of: names, in: descriptor, place, depth: depth)
        } else {
            do throws(ErrnoCode) { content = try reader.content(of: descriptor, place, depth: depth) } catch {
                return report.note(error, at: shown(path))
            }
        }
        note(content, path)
        let level = Level(
            descriptor: descriptor, origin: .row(way.folder), path: path, depth: depth, place: place,
            subfolders: content.subfolders, known: known)
        batch.append(SeenFolder(target: .itself(way.folder), finding: .content(content), path: path))
        if !level.subfolders.isEmpty { levels.append(level) }
    }

    // MARK: Walking

    /// Goes on until a batch is full.
    ///
    /// - Returns: Whether there is more to come.
    mutating func go() throws(FileWatchingError) -> Bool {
        while batch.count < Self.foldersAtOnce, filesInBatch < Self.filesAtOnce, let level = levels.last {
            guard let name = levels[levels.count - 1].subfolders.popLast() else {
                levels.removeLast()
                continue
            }
            try enter(name, level)
        }
        return !levels.isEmpty
    }

    /// Notes which numbers the folders of the batch have, and begins another.
    ///
    /// - Parameter folders: `nil` for those that were not noted.
    mutating func didNote(_ folders: [Int64?]) {
        for (seen, folder) in zip(batch, folders) where seen.isObserved {
            observer?.didNote(seen.watch, folder, seen.number)
        }
        for place in levels.indices {
            guard case .seen(let index) = levels[place].origin else { continue }
            // Below a folder that was not noted nothing is.
            if let folder = folders[index] {
                levels[place].origin = .row(folder)
            } else {
                levels[place].origin = .row(-1)
                levels[place].subfolders = []
            }
        }
        (batch, filesInBatch, newPlace) = ([], 0, nil)
    }

    /// The folders that are still walked through.
    var openFolders: Set<Int64> {
        Set(levels.compactMap { if case .row(let folder) = $0.origin { folder } else { nil } })
    }

    private func isMount(
        _ folder: OwnedDescriptor, _ described: inout csystem_file, _ place: inout FolderPlace
    ) throws(ErrnoCode) -> Bool {
        let code = csystem_describe(folder.number, "", 0, &described)
        guard code == 0 else { throw ErrnoCode(code) }
        let isMount = described.is_mount < 0 ? described.device != place.device : described.is_mount == 1
        // Subvolumes have devices of their own too.
        if isMount || described.device != place.device {
            guard let found = FileSystemPlace(of: folder) else { throw ErrnoCode(EIO) }
            place = FolderPlace(device: described.device, place: found)
        }
        return isMount
    }

    private mutating func enter(_ name: EntryName, _ parent: Level) throws(FileWatchingError) {
        let path = Self.below(parent.path, name)
        guard parent.depth < WatchedTree.Limit.depth, reader.hasRoom else {
            return report.noteBeyondLimits(shown(path))
        }
        reader.pulse?.beat()
        var described = csystem_file()
        var place = parent.place
        let folder: OwnedDescriptor
        let isMount: Bool
        do throws(ErrnoCode) {
            folder = try .folder(name.text, in: parent.descriptor)
            isMount = try self.isMount(folder, &described, &place)
        } catch {
            // Gone since its name was read: a change of the folder above, which is told by itself.
            if error.isAbsence { return }
            report.note(error, at: shown(path))
            batch.append(SeenFolder(target: .child(name, of: parent.origin), finding: .unreadable, path: path))
            return
        }
        if excluded.contains(FolderNumber(described)) {
            batch.append(SeenFolder(target: .child(name, of: parent.origin), finding: .excluded, path: path))
            return
        }
        let mount = isMount ? place.place.identity : nil
        let known = knowledge.mounts[EntryName(path)]
        var judgement = DiskJudgement.same
        if let known {
            judgement = DiskJudgement(isSame: place.place.identity == known.identity, isThere: isMount)
        }
        if let row = parent.known?[name], row.state == .present, !row.isPartial, row.mount == mount, row.born != 0,
            row.inode == described.inode, row.born == described.born, observer?.isWatched(row.id) == true
        {
            // The same folder, of which every change is told by itself.
            return
        }
        // What could not be read before is another state of the whole tree.
        if parent.known?[name]?.isPartial == true { report.needsWholeTree = true }
        if judgement == .away, let known, try !holdsSample(of: known.folder, in: folder) {
            return report.noteUnavailable(shown(path))
        }
        enter(
            name, folder, described, path: path, depth: parent.depth + 1, parent: parent.origin, place, mount: mount,
            judgement: judgement == .other ? .other : .same, known: known?.folder)
    }

    /// Reads an open folder.
    private mutating func enter(
        _ name: EntryName, _ folder: OwnedDescriptor, _ described: csystem_file, path: String, depth: Int,
        parent: SeenFolder.Origin, _ place: FolderPlace, mount: String?, judgement: DiskJudgement, known: Int64?
    ) {
        let number = FolderNumber(described)
        let watch = observer?.willRead(folder, number)
        var seen = SeenFolder(
            target: .child(name, of: parent), finding: .unreadable, path: path, number: number,
            born: described.born, mount: mount, watch: watch, isObserved: observer != nil)
        if observer != nil, watch == nil { report.unwatched += 1 }
        report.isShared = report.isShared || place.place.kind.isShared
        let content: FolderContent
        do throws(ErrnoCode) {
            content = try reader.content(of: folder, place, depth: depth)
            let holdsKnown =
                switch judgement {
                case .same: true
                case .other: !content.isEmpty
                case .away: ((try? holdsSample(of: known ?? 0, in: folder)) ?? false)
                }
            guard holdsKnown else {
                if seen.isObserved { observer?.didNote(watch, nil, number) }
                return report.noteUnavailable(shown(path))
            }
        } catch {
            report.note(error, at: shown(path))
            batch.append(seen)
            return
        }
        note(content, path)
        report.folders += 1
        seen.finding = .content(content)
        batch.append(seen)
        guard !content.subfolders.isEmpty else { return }
        levels.append(
            Level(
                descriptor: folder, origin: .seen(batch.count - 1), path: path, depth: depth, place: place,
                subfolders: content.subfolders, known: nil))
    }

    private mutating func note(_ content: FolderContent, _ path: String) {
        report.files += content.files.count
        filesInBatch += content.files.count
        report.needsRetry = report.needsRetry || content.needsRetry
        if !reader.hasRoom, !content.isWhole { report.noteBeyondLimits(shown(path)) }
        if content.needsRetry || !content.unknown.isEmpty { report.noteUnavailable(shown(path)) }
    }

    /// Whether one of the files that are known below a folder is there, as it was.
    private func holdsSample(
        of known: Int64, in folder: OwnedDescriptor, isRootFile: Bool = false
    ) throws(FileWatchingError) -> Bool {
        let samples = try knowledge.samples(known)
        // Nothing can be lost.
        if samples.isEmpty { return true }
        for sample in samples {
            guard isRootFile == sample.path.isEmpty else { continue }
            var described = csystem_file()
            guard csystem_describe(folder.number, sample.path, 1, &described) == 0,
                mode_t(described.mode) & S_IFMT == S_IFREG
            else { continue }
            if described.size == sample.size, described.modified == sample.modified { return true }
        }
        return false
    }
}
