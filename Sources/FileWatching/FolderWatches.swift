// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The inotify(7) watches, and the stored folders of each watch. Two owners may watch the same
/// folder.
///
/// There are at most ``maximum`` watches. When they are used up, each owner is entitled to an equal
/// share. An owner below its share takes surplus watches from the owner with the most watches,
/// whose trees are then polled.
///
/// For use by one thread. Uses about 100 bytes per folder, plus about 1 KiB in the kernel.
final class FolderWatches {
    /// Adds a watch, as inotify_add_watch(2) does.
    typealias Add = @Sendable (_ descriptor: Int32, _ path: String, _ mask: UInt32) -> Int32

    let descriptor: OwnedDescriptor
    /// The maximum number of watches.
    let maximum: Int
    private let addWatch: Add
    /// The first folder of each watch. `others` contains the additional folders of the few watches
    /// that have several.
    private var folders: [Int32: Int64] = [:]
    private var others: [Int32: Set<Int64>] = [:]
    private var watches: [Int64: Watched] = [:]
    /// The watches on folders, by device and inode number.
    private var numbers: [FolderNumber: Int32] = [:]
    /// The number of watches that have been added but whose folders are not stored yet.
    private var added = 0
    /// The number of watched folders of each owner.
    private var counts: [Int64: Int] = [:]
    /// The watched folders and links on the paths to the roots.
    private var places: [Int32: Set<Place>] = [:]
    /// The folders that could not be watched. `lastCode` is the last error, usually ENOSPC: the
    /// user's watch limit is reached.
    private(set) var unwatched: Set<Int64> = []
    private var lastCode: Int32 = 0
    /// The owners that have lost watches to others since this set was last emptied.
    var curtailed: Set<Int64> = []

    private struct Watched {
        var watch: Int32
        var owner: Int64
        var number: FolderNumber
    }

    /// A name above the root of a tree or, if `nil`, a folder or link on that path itself.
    struct Place: Hashable {
        var tree: Int64
        var name: EntryName?
    }

    private static let presence: EventMask = [.created, .moved, .deleted, .folderGone]
    private static let content: EventMask = [presence, .modified, .closedAfterWriting, .attributes]
    /// The limits on one transfer: the maximum number of watches, and the divisor applied to the
    /// surplus.
    private static let (takenAtOnce, takenPart) = (256, 8)

    init(_ descriptor: OwnedDescriptor, maximum: Int = .max, add: @escaping Add) {
        self.descriptor = descriptor
        self.maximum = maximum
        addWatch = add
    }

    /// Half of the kernel's limit for a user. The rest is left to other programs.
    static var systemMaximum: Int {
        guard let text = try? BoundedFile.regular("/proc/sys/fs/inotify/max_user_watches", limit: 64),
            let limit = Int(String(decoding: text, as: UTF8.self).prefix { $0.isNumber })
        else { return .max }
        return max(1, limit / 2)
    }

    var count: Int { Set(folders.keys).union(places.keys).count }
    var code: Int32? { unwatched.isEmpty ? nil : lastCode }
    /// `true` if the last watch was refused because of a lack of resources.
    var isOutOfRoom: Bool { lastCode == ENOSPC || lastCode == ENOMEM }

    private func add(_ path: String, _ mask: EventMask) -> Int32? {
        let watch = addWatch(descriptor.number, path, mask.rawValue)
        if watch < 0 { lastCode = errno }
        return watch < 0 ? nil : watch
    }

    // MARK: Folders

    /// Adds a watch to an open folder for an owner.
    func willRead(_ folder: OwnedDescriptor, _ number: FolderNumber, for owner: Int64) -> Int32? {
        let isNew = numbers[number] == nil
        if isNew, used >= maximum, !makeRoom(for: owner, of: maximum) {
            lastCode = ENOSPC
            return nil
        }
        // The path in `/proc/self/fd` refers to the open folder even if it has been renamed.
        let (path, mask): (String, EventMask) = (
            "/proc/self/fd/\(folder.number)", [Self.content, .foldersOnly, .noUnlinked]
        )
        var watch = add(path, mask)
        // Other programs are using the rest of the limit.
        if watch == nil, lastCode == ENOSPC, makeRoom(for: owner, of: used) { watch = add(path, mask) }
        if isNew, watch != nil { added += 1 }
        return watch
    }

    /// The number of used watches; a lower bound.
    private var used: Int { folders.count + places.count + added }

    /// Takes watches from the owner with the most watches, if `owner` has less than its share.
    private func makeRoom(for owner: Int64, of all: Int) -> Bool {
        let share = all / (counts.count + (counts[owner] == nil ? 1 : 0))
        guard counts[owner, default: 0] + added < share,
            let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), most.value > share,
            most.key != owner
        else { return false }
        let before = used
        let taken = watches.lazy.filter { $0.value.owner == most.key }.map(\.key)
            .prefix(min(Self.takenAtOnce, (most.value - share) / Self.takenPart + 1))
        for folder in Array(taken) {
            remove(folder)
            unwatched.insert(folder)
        }
        curtailed.insert(most.key)
        lastCode = ENOSPC
        return used < before
    }

    func didNote(_ watch: Int32?, _ folder: Int64?, _ number: FolderNumber, for owner: Int64) {
        if watch != nil, numbers[number] == nil { added = max(0, added - 1) }
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
        numbers[number] = watch
        if watches[folder]?.watch == watch {
            if let before = watches[folder], before.owner == owner, before.number == number { return }
        }
        // Another folder has taken the place of a folder that was moved away.
        remove(folder, except: watch)
        watches[folder] = Watched(watch: watch, owner: owner, number: number)
        counts[owner, default: 0] += 1
        if folders[watch] == nil { folders[watch] = folder } else { others[watch, default: []].insert(folder) }
    }

    func isWatched(_ folder: Int64) -> Bool { watches[folder] != nil }

    /// Removes all folders except the given ones.
    func keep(_ present: Set<Int64>) {
        for folder in Array(watches.keys) where !present.contains(folder) { remove(folder) }
        unwatched.formIntersection(present)
    }

    /// - Parameter kept: A watch that is not removed even if no folder uses it.
    private func remove(_ folder: Int64, except kept: Int32? = nil) {
        guard let watched = takeNote(of: folder) else { return }
        let watch = watched.watch
        if folders[watch] == folder {
            folders[watch] = others[watch]?.popFirst()
        } else {
            others[watch]?.remove(folder)
        }
        if others[watch]?.isEmpty == true { others[watch] = nil }
        if watch != kept { end(watch, watched.number) }
    }

    /// Removes a folder from the tables and counts.
    private func takeNote(of folder: Int64) -> Watched? {
        guard let watched = watches.removeValue(forKey: folder) else { return nil }
        counts[watched.owner, default: 1] -= 1
        if counts[watched.owner] == 0 { counts[watched.owner] = nil }
        return watched
    }

    /// Removes a watch if no folder or path uses it.
    private func end(_ watch: Int32, _ number: FolderNumber? = nil) {
        guard folders[watch] == nil else { return }
        if let number, numbers[number] == watch { numbers[number] = nil }
        if places[watch] == nil { inotify_rm_watch(descriptor.number, watch) }
    }

    /// Returns the folders of a watch.
    func folders(of watch: Int32) -> [Int64] {
        guard let first = folders[watch] else { return [] }
        return [first] + (others[watch] ?? [])
    }

    // MARK: Places

    /// Watches a folder for changes to one name in it.
    ///
    /// - Parameter isFile: `true` if writes to the file with that name are watched too.
    func add(_ path: String, _ place: Place, isFile: Bool) -> Int32? {
        note(place, add(path, [isFile ? Self.content : Self.presence, .foldersOnly, .added]))
    }

    /// Watches a folder or a link for its own move or removal.
    func addItself(_ step: RootPath.Step, tree: Int64) -> Int32? {
        // Replacing a link changes its attributes first. A folder would also report the attribute
        // events of all its entries.
        let changes: EventMask = step.isLink ? [.folderGone, .attributes] : .folderGone
        return note(Place(tree: tree, name: nil), add(step.path.text, [changes, .noLinks, .added]))
    }

    private func note(_ place: Place, _ watch: Int32?) -> Int32? {
        if let watch { places[watch, default: []].insert(place) }
        return watch
    }

    /// Returns the path entries that use a watch.
    func places(of watch: Int32) -> Set<Place> { places[watch] ?? [] }

    /// Removes the path watches of a tree, except `kept`.
    func keepPlaces(_ kept: [Int32: Set<Place>] = [:], of tree: Int64) {
        for (watch, all) in places {
            let rest = all.filter { $0.tree != tree || kept[watch]?.contains($0) == true }
            guard rest.count < all.count else { continue }
            places[watch] = rest.isEmpty ? nil : rest
            end(watch)
        }
    }

    // MARK: Everything

    /// Removes all watches.
    func removeAll() {
        for watch in Set(folders.keys).union(places.keys) { inotify_rm_watch(descriptor.number, watch) }
        (folders, others, watches, places, unwatched) = ([:], [:], [:], [:], [])
        (numbers, counts, added, curtailed) = ([:], [:], 0, [])
    }

    /// Removes all record of a watch that the kernel has removed.
    func forget(_ watch: Int32) {
        for folder in folders(of: watch) where watches[folder]?.watch == watch {
            if let number = takeNote(of: folder)?.number, numbers[number] == watch { numbers[number] = nil }
        }
        (folders[watch], others[watch], places[watch]) = (nil, nil, nil)
    }

    /// Reads the pending events, up to 64 KiB.
    ///
    /// - Parameter buffer: Memory for the events.
    func read(_ buffer: UnsafeMutableRawBufferPointer) -> [InotifyEvent] {
        let count = Glibc.read(descriptor.number, buffer.baseAddress, buffer.count)
        guard count > 0 else { return [] }
        return InotifyEvent.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
