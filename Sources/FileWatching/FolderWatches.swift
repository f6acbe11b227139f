// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The watches of inotify(7), and which folder of a snapshot each belongs to.
///
/// Owns the descriptor. One thread at a time. About 40 bytes a folder, and about 1 KiB in the kernel.
struct FolderWatches: ~Copyable {
    let descriptor: OwnedDescriptor
    private var folders: [Int32: Int64] = [:]
    private var watches: [Int64: Int32] = [:]
    /// Folders above a root that is a file or not there: the number of the watch, the trees and the names that matter.
    private var places: [Int32: [Place]] = [:]
    /// The code of the error because of which a folder is not watched: most often ENOSPC, the user's limit of watches.
    private(set) var failure: Int32?
    private(set) var unwatched = 0

    /// A name above or at the root of a tree.
    struct Place: Hashable {
        var tree: Int64
        var name: String
    }

    private static let presence: EventMask = [.created, .moved, .deleted, .folderGone]
    private static let content: EventMask = [presence, .modified, .closedAfterWriting, .attributes]

    init(_ descriptor: OwnedDescriptor) { self.descriptor = descriptor }

    var count: Int { folders.count + places.count }

    /// Watches an open folder. To be called before its names are read, so that a change after that is told.
    mutating func add(_ folder: OwnedDescriptor, _ number: Int64) {
        // The folder that is open, wherever its path leads by now.
        guard let watch = add("/proc/self/fd/\(folder.number)", [Self.content, .foldersOnly, .noUnlinked]) else {
            unwatched += 1
            return
        }
        if let old = folders[watch], old != number { watches[old] = nil }
        // Another folder has taken the place of one that was moved away.
        if let old = watches[number], old != watch { remove(number) }
        folders[watch] = number
        watches[number] = watch
    }

    /// Watches a folder by its path for a name in it.
    ///
    /// - Parameter isFile: Whether the name is watched for what is written into it.
    /// - Returns: Whether the folder is there.
    mutating func add(_ path: String, _ place: Place, isFile: Bool) -> Bool {
        let mask = isFile ? Self.content : Self.presence
        guard let watch = add(path, [mask, .foldersOnly, .added]) else {
            return failure != ENOENT && failure != ENOTDIR
        }
        if places[watch]?.contains(place) != true { places[watch, default: []].append(place) }
        return true
    }

    private mutating func add(_ path: String, _ mask: EventMask) -> Int32? {
        let watch = inotify_add_watch(descriptor.number, path, mask.rawValue)
        guard watch >= 0 else {
            failure = errno
            return nil
        }
        return watch
    }

    /// Stops watching all folders but these.
    mutating func keep(_ present: Set<Int64>) {
        for folder in watches.keys where !present.contains(folder) { remove(folder) }
    }

    private mutating func remove(_ folder: Int64) {
        guard let watch = watches.removeValue(forKey: folder), folders[watch] == folder else { return }
        folders[watch] = nil
        if places[watch] == nil { inotify_rm_watch(descriptor.number, watch) }
    }

    /// Stops watching everything.
    mutating func removeAll() {
        for watch in Set(folders.keys).union(places.keys) { inotify_rm_watch(descriptor.number, watch) }
        (folders, watches, places, failure, unwatched) = ([:], [:], [:], nil, 0)
    }

    /// The folder of a watch; `nil` if there is none any more.
    func folder(of watch: Int32) -> Int64? { folders[watch] }
    /// The places of a watch.
    func places(of watch: Int32) -> [Place] { places[watch] ?? [] }

    /// Forgets a watch that the kernel has ended.
    mutating func forget(_ watch: Int32) {
        if let folder = folders.removeValue(forKey: watch) { watches[folder] = nil }
        places[watch] = nil
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
