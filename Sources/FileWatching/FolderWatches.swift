// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The watches of inotify(7), and which folders of a snapshot each stands for: two owners may have one folder.
///
/// One thread. About 60 bytes a folder, and about 1 KiB in the kernel.
final class FolderWatches: FolderObserver {
    /// Asks the kernel for a watch, as inotify_add_watch(2) does.
    typealias Add = @Sendable (_ descriptor: Int32, _ path: String, _ mask: UInt32) -> Int32

    let descriptor: OwnedDescriptor
    private let addWatch: Add
    /// The first folder of each watch, and the others of the few that have several.
    private var folders: [Int32: Int64] = [:]
    private var others: [Int32: Set<Int64>] = [:]
    private var watches: [Int64: Int32] = [:]
    /// What is watched on the way to a root.
    private var places: [Int32: Set<Place>] = [:]
    /// Folders that could not be watched, and the code of the last error: most often ENOSPC, the user's limit of watches.
    private(set) var unwatched: Set<Int64> = []
    private var lastCode: Int32 = 0

    /// A name above the root of a tree, or a folder or link on the way there itself.
    struct Place: Hashable {
        var tree: Int64
        var name: EntryName?
    }

    private static let presence: EventMask = [.created, .moved, .deleted, .folderGone]
    private static let content: EventMask = [presence, .modified, .closedAfterWriting, .attributes]

    init(_ descriptor: OwnedDescriptor, add: @escaping Add) {
        self.descriptor = descriptor
        addWatch = add
    }

    var count: Int { Set(folders.keys).union(places.keys).count }
    var code: Int32? { unwatched.isEmpty ? nil : lastCode }

    private func add(_ path: String, _ mask: EventMask) -> Int32? {
        let watch = addWatch(descriptor.number, path, mask.rawValue)
        if watch < 0 { lastCode = errno }
        return watch < 0 ? nil : watch
    }

    // MARK: Folders

    func willRead(_ folder: OwnedDescriptor) -> Int32? {
        // The folder that is open, wherever its path leads by now.
        add("/proc/self/fd/\(folder.number)", [Self.content, .foldersOnly, .noUnlinked])
    }

    func didNote(_ watch: Int32?, _ folder: Int64?) {
        guard let folder else {
            if let watch { end(watch) }
            return
        }
        guard let watch else {
            remove(folder)
            unwatched.insert(folder)
            return
        }
        unwatched.remove(folder)
        guard watches[folder] != watch else { return }
        // Another folder has taken the place of one that was moved away.
        remove(folder)
        watches[folder] = watch
        if folders[watch] == nil { folders[watch] = folder } else { others[watch, default: []].insert(folder) }
    }

    func isWatched(_ folder: Int64) -> Bool { watches[folder] != nil }

    /// Forgets all folders but these.
    func keep(_ present: Set<Int64>) {
        for folder in Array(watches.keys) where !present.contains(folder) { remove(folder) }
        unwatched.formIntersection(present)
    }

    private func remove(_ folder: Int64) {
        guard let watch = watches.removeValue(forKey: folder) else { return }
        if folders[watch] == folder {
            folders[watch] = others[watch]?.popFirst()
        } else {
            others[watch]?.remove(folder)
        }
        if others[watch]?.isEmpty == true { others[watch] = nil }
        end(watch)
    }

    /// Ends a watch that stands for nothing.
    private func end(_ watch: Int32) {
        if folders[watch] == nil, places[watch] == nil { inotify_rm_watch(descriptor.number, watch) }
    }

    /// The folders of a watch.
    func folders(of watch: Int32) -> [Int64] {
        guard let first = folders[watch] else { return [] }
        return [first] + (others[watch] ?? [])
    }

    // MARK: Places

    /// Watches a folder for a name in it.
    ///
    /// - Parameter isFile: Whether the name is watched for what is written into it.
    func add(_ path: String, _ place: Place, isFile: Bool) {
        note(place, add(path, [isFile ? Self.content : Self.presence, .foldersOnly, .added]))
    }

    /// Watches whether a folder or a link is moved or removed.
    func addItself(_ step: RootPath.Step, tree: Int64) {
        // A link that is replaced loses a name first. Of a folder, attributes would be those of all that is in it too.
        let changes: EventMask = step.isLink ? [.folderGone, .attributes] : .folderGone
        note(Place(tree: tree, name: nil), add(step.path.text, [changes, .noLinks, .added]))
    }

    private func note(_ place: Place, _ watch: Int32?) {
        if let watch { places[watch, default: []].insert(place) }
    }

    /// The places of a watch.
    func places(of watch: Int32) -> Set<Place> { places[watch] ?? [] }

    /// Ends what is watched on the way to the root of a tree.
    func removePlaces(of tree: Int64) {
        for (watch, all) in places {
            let rest = all.filter { $0.tree != tree }
            guard rest.count < all.count else { continue }
            places[watch] = rest.isEmpty ? nil : rest
            end(watch)
        }
    }

    // MARK: Everything

    /// Ends all watches.
    func removeAll() {
        for watch in Set(folders.keys).union(places.keys) { inotify_rm_watch(descriptor.number, watch) }
        (folders, others, watches, places, unwatched) = ([:], [:], [:], [:], [])
    }

    /// Forgets a watch that the kernel has ended.
    func forget(_ watch: Int32) {
        for folder in folders(of: watch) where watches[folder] == watch { watches[folder] = nil }
        (folders[watch], others[watch], places[watch]) = (nil, nil, nil)
    }

    /// Reads the events there are, 64 KiB at most.
    ///
    /// - Parameter buffer: Room for them.
    func read(_ buffer: UnsafeMutableRawBufferPointer) -> [InotifyEvent] {
        let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
        guard count > 0 else { return [] }
        return InotifyEvent.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
