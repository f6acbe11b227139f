// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// The result of reading a folder or some of its names. Based only on the disk.
struct FolderContent {
    /// Regular files, and symbolic links to regular files.
    var files: [(name: EntryName, state: FileState)] = []
    /// The files that have additional hard links.
    var linked: Set<EntryName> = []
    /// Subfolders that are watched.
    var subfolders: [EntryName] = []
    /// Names that could not be read. Their stored state is kept.
    var unknown: Set<EntryName> = []
    /// Symbolic links without a target, with the file system on which their path ends.
    var dangling: [EntryName: Int64] = [:]
    /// Requested names that do not exist or are not watched. Used only if not all names were read.
    var absent: [EntryName] = []
    /// The absent names that do not exist at all, and would be watched if they were files.
    var vanished: Set<EntryName> = []
    /// `true` if all names of the folder were read. In that case, a stored name that was not found
    /// is gone.
    var isWhole = true
    /// `true` if the read must be repeated soon, because the system lacked resources.
    var needsRetry = false
    /// Files that may change again without getting a new time.
    var unsettled: [EntryName] = []
    /// A digest of all files, independent of their order.
    private(set) var digest: Int64 = 0

    /// `true` if the folder contains nothing that is watched.
    var isEmpty: Bool { files.isEmpty && subfolders.isEmpty && unknown.isEmpty && dangling.isEmpty }

    mutating func add(_ name: EntryName, _ state: FileState) {
        digest &+= state.digest(name)
        files.append((name, state))
    }
}

/// The file system of a folder.
struct FolderPlace {
    var device: UInt64
    var place: FileSystemPlace
}

/// Reads the metadata of files, and caches their file systems.
struct FileReader {
    let rule: WatchedTree
    let conditions: SnapshotConditions
    /// Notified of each answer from the file system.
    let pulse: ComparisonPulse?
    /// The number of entries read so far, including hidden ones.
    private(set) var entries = 0
    /// The file systems of link targets, by device number.
    private var places: [UInt64: FileSystemPlace] = [:]

    init(rule: WatchedTree, _ conditions: SnapshotConditions, _ pulse: ComparisonPulse?) {
        (self.rule, self.conditions, self.pulse) = (rule, conditions, pulse)
    }

    /// `true` if the tree's entry limit has not been reached.
    var hasRoom: Bool { entries < conditions.maximumEntries }

    /// Reads a whole folder.
    ///
    /// - Parameter depth: The number of names below the root.
    /// - Throws: ``ErrnoCode`` if the folder cannot be listed. After a later error or at the entry
    ///   limit, the rest is omitted and the content is not whole.
    mutating func content(of folder: OwnedDescriptor, _ place: FolderPlace, depth: Int) throws(ErrnoCode)
        -> FolderContent
    {
        var content = FolderContent()
        let time = conditions.now()
        var listing = try FolderListing(of: folder)
        do throws(ErrnoCode) {
            while let (name, kind) = try listing.next() {
                guard hasRoom else {
                    content.isWhole = false
                    break
                }
                entries += 1
                guard !name.isEmpty else { continue }
                if kind == .folder {
                    if rule.admits(name, depth: depth, isFolder: true) { content.subfolders.append(EntryName(name)) }
                } else if kind == .unknown || rule.admits(name, depth: depth, isFolder: false) {
                    look(EntryName(name), in: folder, place, depth: depth, at: time, &content)
                }
            }
        } catch {
            content.isWhole = false
            content.needsRetry = true
        }
        return content
    }

    /// Reads some names of a folder.
    mutating func content(
        of names: Set<EntryName>, in folder: OwnedDescriptor, _ place: FolderPlace, depth: Int
    ) -> FolderContent {
        var content = FolderContent()
        content.isWhole = false
        let time = conditions.now()
        for name in names.sorted() { look(name, in: folder, place, depth: depth, at: time, &content) }
        return content
    }

    private mutating func look(
        _ name: EntryName, in folder: OwnedDescriptor, _ place: FolderPlace, depth: Int, at time: Int64,
        _ content: inout FolderContent
    ) {
        pulse?.beat()
        switch Found(name.text, in: folder.number) {
        case .folder where rule.admits(name.text, depth: depth, isFolder: true): content.subfolders.append(name)
        case .file(let described) where rule.admits(name.text, depth: depth, isFolder: false):
            guard let place = self.place(of: described, named: name.text, in: folder, place) else {
                content.unknown.insert(name)
                return
            }
            let (state, isSettled) = state(described, on: place, at: time)
            content.add(name, state)
            if described.links > 1 { content.linked.insert(name) }
            if !isSettled { content.unsettled.append(name) }
        case .dangling where rule.admits(name.text, depth: depth, isFolder: false):
            if let number = fileSystemOfTarget(name.text, in: folder, place) {
                content.dangling[name] = number
            } else {
                content.unknown.insert(name)
            }
        case .unknown(let code):
            content.unknown.insert(name)
            if ErrnoCode(code).isWantOfRoom { content.needsRetry = true }
        case .nothing where rule.admits(name.text, depth: depth, isFolder: false):
            content.absent.append(name)
            content.vanished.insert(name)
        default: content.absent.append(name)
        }
    }

    /// Returns the state of a file, and `true` if every later change is certain to get a different
    /// time.
    func state(_ described: csystem_file, on place: FileSystemPlace, at time: Int64) -> (FileState, Bool) {
        let (age, isFar) = time.subtractingReportingOverflow(described.changed)
        let isSettled = isFar || age.magnitude >= UInt64(conditions.granularity(place.kind))
        return (
            FileState(
                fileSystem: place.number, inode: place.kind.keepsInodes ? described.inode : 0, born: described.born,
                size: described.size, modified: described.modified, changed: isSettled ? described.changed : 0),
            isSettled
        )
    }

    private static let maximumPlaces = 64

    private mutating func place(
        of described: csystem_file, named name: String, in folder: OwnedDescriptor, _ own: FolderPlace
    ) -> FileSystemPlace? {
        if described.device == own.device { return own.place }
        if let known = places[described.device] { return known }
        guard let target = try? OwnedDescriptor.place(name, in: folder.number) else { return nil }
        return remember(target, described.device)
    }

    private mutating func remember(_ file: OwnedDescriptor, _ device: UInt64) -> FileSystemPlace? {
        guard let place = FileSystemPlace(of: file) else { return nil }
        if places.count >= Self.maximumPlaces { places = [:] }
        places[device] = place
        return place
    }

    /// Returns the file system of the nearest existing ancestor of a link's target.
    private mutating func fileSystemOfTarget(
        _ name: String, in folder: OwnedDescriptor, _ own: FolderPlace
    ) -> Int64? {
        guard let target = linkTarget(name, in: folder.number),
            let nearest = try? OwnedDescriptor.nearest(target, in: folder.number)
        else { return nil }
        var described = csystem_file()
        guard csystem_describe(nearest.number, "", 0, &described) == 0 else { return nil }
        if described.device == own.device { return own.place.number }
        return (places[described.device] ?? remember(nearest, described.device))?.number
    }
}

/// Returns the target of a symbolic link; `nil` if the name is not a link or its target is not
/// UTF-8.
func linkTarget(_ name: String, in folder: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
        buffer.withMemoryRebound(to: CChar.self) { buffer in
            buffer.baseAddress.map { readlinkat(folder, name, $0, buffer.count) } ?? -1
        }
    }
    return count > 0 && count < bytes.count ? String(validating: bytes[..<count], as: UTF8.self) : nil
}
