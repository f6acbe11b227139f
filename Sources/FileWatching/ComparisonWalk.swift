// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// An observer that watches folders during a comparison. Called on the comparison's thread.
protocol FolderObserver: AnyObject {
    /// Adds a watch to an open folder before its names are read, so that later changes are
    /// reported.
    ///
    /// - Returns: The number of the watch; `nil` if the folder cannot be watched.
    func willRead(_ folder: OwnedDescriptor, _ number: FolderNumber) -> Int32?
    /// Called after a folder was stored under a number; `folder` is `nil` if the folder was not
    /// stored.
    func didNote(_ watch: Int32?, _ folder: Int64?, _ number: FolderNumber)
    /// Returns `true` if a folder is watched.
    func isWatched(_ folder: Int64) -> Bool
}

/// A folder that a walk has read, ready to be stored.
struct SeenFolder {
    enum Origin {
        /// The folder with this row number; 0 is the parent of the root.
        case row(Int64)
        /// The folder at this index in the same batch.
        case seen(Int)
    }
    enum Target {
        case itself(Int64)
        case child(EntryName, of: Origin)
    }
    enum Finding {
        case content(FolderContent)
        /// The folder cannot be read.
        case unreadable
        /// The folder is excluded from comparisons.
        case excluded
    }
    var target: Target
    var finding: Finding
    /// The path below the root.
    var path: String
    var number = FolderNumber(csystem_file())
    var born: Int64 = 0
    /// The identity of the file system mounted at the folder; `nil` if the folder is not a mount
    /// point.
    var mount: String?
    /// The number of the watch; `nil` if there is none, or if the folder could not be watched.
    var watch: Int32?
    var isObserved = false
}

/// The stored row of a folder.
struct FolderRow {
    let id: Int64
    let name: EntryName
    let inode: UInt64
    let born: Int64
    /// The identity of the file system that was mounted at the folder.
    let mount: String?
    let state: FolderState
    /// `true` if part of the folder could not be read.
    let isPartial: Bool
    let digest: Int64?
}

/// The stored state of a folder.
enum FolderState: Int64 {
    case present = 0
    /// The folder is gone, and its files have been noted as removed.
    case gone = 1
    /// The folder is gone. Its files and subfolders have yet to be noted as removed.
    case going = 2
}

/// A known file in a folder, used to recognize the folder at a new path.
struct KnownSample {
    var path: String
    var size: Int64
    var modified: Int64
}

/// A walk through a tree or part of a tree.
///
/// Only reads the disk, one batch at a time; a ``ComparisonWriter`` then stores each batch. Opens
/// only folders, and holds one descriptor per folder on the path from the root, at most 65.
struct ComparisonWalk {
    /// A folder on the current path.
    private struct Level {
        var descriptor: OwnedDescriptor
        var origin: SeenFolder.Origin
        /// The path below the root.
        var path: String
        /// The number of names below the root.
        var depth: Int
        var place: FolderPlace
        /// Subfolders that remain to be read.
        var subfolders: [EntryName]
        /// The stored rows of the subfolders, if only changed subfolders are to be read; otherwise
        /// `nil`.
        var known: [EntryName: FolderRow]?
    }

    /// The state of the snapshot before a walk.
    struct Knowledge {
        var tree: StoredTree
        /// `true` if any file of the tree is known.
        var hasFiles: Bool
        /// The mount points in the tree, by path below the root.
        var mounts: [EntryName: (folder: Int64, identity: String)]
        /// Returns some known files below a folder; 0 represents the whole tree.
        var samples: (Int64) throws(FileWatchingError) -> [KnownSample]
    }

    /// The maximum number of folders and files in a batch, unless a single folder has more.
    static let (foldersAtOnce, filesAtOnce) = (512, 8192)

    private let knowledge: Knowledge
    private let excluded: Set<FolderNumber>
    private let observer: (any FolderObserver)?
    private var reader: FileReader
    private var levels: [Level] = []
    private var filesInBatch = 0
    /// The folders that were read but are not stored yet.
    private(set) var batch: [SeenFolder] = []
    /// The new file system of the root; `nil` if it is unchanged.
    private(set) var newPlace: KnownPlace?
    /// `true` if the root was removed.
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

    /// Opens and reads the root. All checks use the same open descriptor, so they see the same
    /// file.
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

    /// Determines whether a missing root was removed, or its file system is unmounted.
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

    /// A stored folder, with the names on the path from the root of its tree.
    struct Way {
        var folder: Int64
        var names: [EntryName]
    }

    /// Reads some names of a folder, or all names if `nil`, and queues the subfolders that have
    /// changed.
    ///
    /// - Parameter known: The stored subfolders of the folder.
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
                // The root is on another file system. A comparison of the whole tree determines
                // what that means.
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
            // If a folder on the path is gone, its parent's event reports that.
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

    /// Reads folders until a batch is full.
    ///
    /// - Returns: `true` if folders remain.
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

    /// Replaces batch indexes with row numbers after a batch was stored, and starts the next batch.
    ///
    /// - Parameter folders: The row number of each folder; `nil` if it was not stored.
    mutating func didNote(_ folders: [Int64?]) {
        for (seen, folder) in zip(batch, folders) where seen.isObserved {
            observer?.didNote(seen.watch, folder, seen.number)
        }
        for place in levels.indices {
            guard case .seen(let index) = levels[place].origin else { continue }
            // The parent was not stored, so its subfolders cannot be stored either.
            if let folder = folders[index] {
                levels[place].origin = .row(folder)
            } else {
                levels[place].origin = .row(-1)
                levels[place].subfolders = []
            }
        }
        (batch, filesInBatch, newPlace) = ([], 0, nil)
    }

    /// The row numbers of the folders whose subfolders are still being read.
    var openFolders: Set<Int64> {
        Set(levels.compactMap { if case .row(let folder) = $0.origin { folder } else { nil } })
    }

    private func isMount(
        _ folder: OwnedDescriptor, _ described: inout csystem_file, _ place: inout FolderPlace
    ) throws(ErrnoCode) -> Bool {
        let code = csystem_describe(folder.number, "", 0, &described)
        guard code == 0 else { throw ErrnoCode(code) }
        let isMount = described.is_mount < 0 ? described.device != place.device : described.is_mount == 1
        // Btrfs subvolumes have their own device numbers too.
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
            // The folder disappeared after its name was read. Its parent's event reports that.
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
            // The folder is the same as before, and its own watch reports every change.
            return
        }
        // A folder that was previously unreadable affects the state of the whole tree.
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

    /// Returns `true` if a known file below a folder still exists with the same size and time.
    private func holdsSample(
        of known: Int64, in folder: OwnedDescriptor, isRootFile: Bool = false
    ) throws(FileWatchingError) -> Bool {
        let samples = try knowledge.samples(known)
        // No file is known, so none can be lost.
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
