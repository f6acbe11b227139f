// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The targets of links in the user's settings and program folders. Users who keep dotfiles among
/// their documents link to them from the paths where programs read them.
struct HiddenLinks {
    /// The targets of the links, with all links in their paths resolved.
    private(set) var targets: [String] = []
    /// The first path that was not searched; `nil` if the search was complete. The search covers
    /// the home folder's hidden names and the settings and data folders, three levels deep. Below
    /// folders whose names suggest code, it goes deeper.
    private(set) var unseen: String?

    /// The limits of the search.
    struct Limits {
        var names = 1 << 17
        var folders = 1 << 14
        var links = 1 << 12
    }

    /// The search levels: three below the settings and data folders, two below the home folder's
    /// hidden folders.
    private static let (home, base, hidden, deepest, deepestOfCode) = (0, 1, 2, 3, 7)

    /// Searches for links whose target is one of the given paths, lies inside one, or contains one.
    ///
    /// - Parameter places: Resolved paths. Other links are ignored.
    init(_ user: UserFolders, to places: [String], _ paths: FollowedPaths, limits: Limits = Limits()) {
        var left = limits
        var found: Set<[UInt8]> = []
        // The home folder's own names come first, then the contents of its hidden folders, breadth
        // first.
        var folders: [(path: String, depth: Int, isOfCode: Bool)] = [(user.home, Self.home, false)]
        folders += user.bases.map { ($0.path, Self.base, false) }
        var next = 0
        while next < folders.count {
            let (folder, depth, isOfCode) = folders[next]
            next += 1
            left.folders -= 1
            guard left.folders >= 0, let listing = FolderListing.of(folder, &left.names) else {
                unseen = folder
                return
            }
            for name in listing.links where Self.counts(name, depth) {
                let path = folder + "/" + name
                // A base folder that is a link is handled as a base folder.
                if user.bases.contains(where: { $0.path == path }) { continue }
                left.links -= 1
                let target: String
                do throws(FollowedPath.Failure) {
                    guard left.links >= 0 else { throw .names }
                    target = try paths.follow(path).path
                } catch {
                    // A cycle of links has no target.
                    if error == .links { continue }
                    unseen = path
                    return
                }
                let concerns = places.contains { lies(target, in: $0) || lies($0, in: target) }
                if concerns, found.insert(Array(target.utf8)).inserted { targets.append(target) }
            }
            for name in listing.folders where Self.counts(name, depth) {
                let path = folder + "/" + name
                let isOfCode = isOfCode || Self.isOfCode(name)
                guard depth < (isOfCode ? Self.deepestOfCode : Self.deepest), !Self.isOfAnApp(name, depth),
                    !Self.isData(path, name, user)
                else { continue }
                folders.append((path, depth == Self.home ? Self.hidden : depth + 1, isOfCode))
            }
        }
    }

    private static func counts(_ name: String, _ depth: Int) -> Bool {
        depth > home || name.utf8.first == UInt8(ascii: ".") || name == "bin"
    }

    /// Returns `true` for an app's own folder. A link in it is not another program's setting.
    private static func isOfAnApp(_ name: String, _ depth: Int) -> Bool { depth == base && AppNames.isAppName(name) }

    /// Returns `true` if programs load code from folders with this name.
    private static func isOfCode(_ name: String) -> Bool {
        name.hasSuffix(".d") || name.hasSuffix(".wants") || codeNames.contains(name)
    }
    private static let codeNames: Set<String> = [
        "applications", "autostart", "bin", "completions", "dbus-1", "env", "functions", "hooks", "init", "lua", "sbin",
        "scripts", "services", "systemd", "user",
    ]

    /// Returns `true` for folders that need no search. Cache folders are numerous, and each is only
    /// read by the program that wrote it. Flatpak's folders belong to apps. Other such folders
    /// contain pictures or trash.
    private static func isData(_ path: String, _ name: String, _ user: UserFolders) -> Bool {
        // The folders for all apps are searched separately.
        dataNames.contains(name) || path == user.home + "/.var" || user.bases.contains { $0.path == path }
            || lies(path, in: user.cache)
                && ![user.home, user.config, user.data, user.state].contains { lies($0, in: user.cache) }
    }
    private static let dataNames: Set<String> = [
        "_cacache", "baloo", "blob_storage", "Cache", "CacheStorage", "Code Cache", "Crashpad", "fonts", "GPUCache",
        "gvfs-metadata", "icons", "IndexedDB", "Local Storage", "logs", "Service Worker", "thumbnails", "tracker3",
        "Trash", "wallpapers",
    ]
}

private struct FolderListing {
    var links: [String] = []
    var folders: [String] = []
    var count = 0

    private struct Known {
        var listing: FolderListing
        /// The folder's modification time, in nanoseconds.
        var modified: Int64
        var made: Int64
    }
    /// The listings of unchanged folders. They are cached because each worker start needs the same
    /// listings.
    private static let known = Mutex<[FileIdentity: Known]>([:])
    private static let maximumKnown = 1 << 14
    /// The age of a change, in nanoseconds, below which another change may have the same time
    /// stamp.
    private static let doubt: Int64 = 2_000_000_000

    /// Errors for a folder that does not exist or that the user cannot read.
    private static let nothing: Set<Int32> = [EACCES, ENOENT, ENOTDIR]

    /// Returns the links and folders in a folder; an empty listing if the folder does not exist or
    /// access is denied.
    ///
    /// - Parameter left: The number of names that may still be listed. Reduced by the listed names.
    /// - Returns: `nil` if `left` is exceeded or another error occurs.
    static func of(_ folder: String, _ left: inout Int) -> FolderListing? {
        var place = csandbox_place()
        let error = csandbox_look(folder, &place)
        guard error == 0 else { return nothing.contains(error) ? FolderListing() : nil }
        let identity = FileIdentity(place)
        let found = known.withLock { $0[identity] }
        if let found, found.modified == place.modified, found.made == place.made {
            left -= found.listing.count
            return left >= 0 ? found.listing : nil
        }
        guard let listing = read(folder, &left) else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if Int64(now.tv_sec) * 1_000_000_000 - place.modified > doubt {
            known.withLock { known in
                if known.count >= maximumKnown { known = [:] }
                known[identity] = Known(listing: listing, modified: place.modified, made: place.made)
            }
        }
        return listing
    }

    private static func read(_ folder: String, _ left: inout Int) -> FolderListing? {
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        guard let stream = opendir(folder) else {
            return nothing.contains(errno) ? FolderListing() : nil
        }
        defer { closedir(stream) }
        var listing = FolderListing()
        while let entry = readdir(stream) {
            left -= 1
            guard left >= 0 else { return nil }
            listing.count += 1
            let kind = Int(entry.pointee.d_type)
            guard kind == DT_LNK || kind == DT_DIR || kind == DT_UNKNOWN else { continue }
            let name = String(
                cString: UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self))
            if name == "." || name == ".." { continue }
            switch kind == DT_UNKNOWN ? self.kind(folder + "/" + name) : kind {
            case DT_LNK: listing.links.append(name)
            case DT_DIR: listing.folders.append(name)
            default: break
            }
        }
        return listing
    }

    private static func kind(_ path: String) -> Int {
        var status = stat()
        guard lstat(path, &status) == 0 else { return DT_UNKNOWN }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: return DT_LNK
        case S_IFDIR: return DT_DIR
        default: return DT_REG
        }
    }
}
