// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A sequence that walks folders and yields their files one at a time, with bounded memory.
///
/// Entries are sorted by the bytes of their names, and a directory's contents take the directory's
/// place. Symbolic links to files are followed. Symbolic links to directories are not entered. If a
/// link's target is in a configured folder, it is walked there; otherwise the link is yielded as a
/// ``Skip``. A file with several names is treated as several files, so only the names determine the
/// steps. A folder nested in another configured folder is walked once. Hidden entries and files
/// whose names the extension does not serve are ignored. Every other file that cannot be read is
/// yielded as a ``Skip``. Not thread-safe: use from one thread at a time.
package struct FolderWalk<File: ServedFile>: Sequence, IteratorProtocol {
    /// A step of the walk.
    package enum Step: Sendable {
        case file(File)
        case skipped(Skip)
        /// The path of a file that a pattern excludes; only in a walk with a scope.
        case leftOut(String)
    }

    package typealias Limits = WalkLimits

    /// A directory in the current path. The remaining entries are in reverse order.
    private struct Level {
        var descriptor: Descriptor
        var path: String
        var rules: IgnoreRules
        var isLeftOut = false
        var remaining: [DirectoryEntry]
    }

    private var foldersToCome: ArraySlice<String>
    private let folders: [String]
    private let exclusions: [Exclusion]
    private let scope: String?
    private let opener: FileOpener
    private let limits: Limits
    private let visiting: (String) -> Void
    private var levels: [Level] = []
    /// The names of the directories in `levels`, except the first.
    private var directories: [String] = []
    private var entriesMet = 0
    /// The configured folders that the walk has entered.
    private var walked: [String] = []
    /// The path of the file after which the walk starts, and the configured folder that contains
    /// it; nil to start at the beginning.
    private var after: (path: String, folder: String)?

    /// - Parameters:
    ///   - folders: The absolute paths. A folder may itself be a symbolic link.
    ///   - visiting: Called for each entry with the directory's path, even if the entry is not
    ///     yielded.
    package init(
        folders: [String], opener: FileOpener = .system, limits: Limits = Limits(),
        visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) {
        self.init(folders: folders, exclusions: [], scope: nil, opener: opener, limits: limits, visiting: visiting)
    }

    /// - Parameter scope: A configured folder or a folder below one. The walk then yields only the
    ///   files in it, including excluded files.
    init(
        folders: [String], exclusions: [Exclusion], scope: String?, opener: FileOpener, limits: Limits,
        after: String? = nil, visiting: @escaping (_ directory: String) -> Void
    ) {
        self.folders = folders
        self.exclusions = exclusions
        self.scope = scope
        foldersToCome = folders[...]
        self.opener = opener
        self.limits = limits
        self.visiting = visiting
        // A nested folder may be walked as part of an outer folder, so the first matching folder
        // decides.
        if let after, let index = folders.firstIndex(where: { after.utf8.starts(with: ($0 + "/").utf8) }) {
            self.after = (after, folders[index])
            foldersToCome = folders[index...]
            walked = Array(folders[..<index])
        }
    }

    package mutating func next() -> Step? {
        while true {
            guard let entry = nextEntry() else {
                guard let folder = foldersToCome.popFirst() else { return nil }
                if walked.contains(where: { Self.lies(folder, in: $0) }) { continue }
                walked.append(folder)
                if let skip = enterFolder(folder) { return .skipped(skip) }
                continue
            }
            let directory = levels[levels.count - 1].path
            visiting(directory)
            let path = directory + "/" + entry.name
            do throws(SkipReason) {
                if let step = try visit(entry, path: path) { return step }
            } catch {
                return .skipped(Skip(path: path, reason: error))
            }
        }
    }

    /// Returns the next entry of the innermost directory that has one, and leaves finished
    /// directories.
    private mutating func nextEntry() -> DirectoryEntry? {
        while !levels.isEmpty {
            if let entry = levels[levels.count - 1].remaining.popLast() { return entry }
            levels.removeLast()
            if !directories.isEmpty { directories.removeLast() }
        }
        return nil
    }

    private mutating func enterFolder(_ folder: String) -> Skip? {
        do throws(SkipReason) {
            let descriptor = try opener.folder(folder)
            return try enter(descriptor, path: folder, rules: IgnoreRules(exclusions, in: folder))
        } catch {
            return Skip(path: folder, reason: error)
        }
    }

    /// Enters a directory. Returns a skip if it has too many entries; the entries up to the limit
    /// are walked.
    private mutating func enter(
        _ descriptor: Descriptor, path: String, rules: IgnoreRules
    ) throws(SkipReason) -> Skip? {
        let listing = try DirectoryListing(of: descriptor, limit: limits.entries - entriesMet) { visiting(path) }
        entriesMet += listing.entriesMet
        let rules = rules.entering(descriptor, depth: levels.count, opener: opener)
        levels.append(
            Level(descriptor: descriptor, path: path, rules: rules, remaining: remaining(of: listing, path).reversed()))
        if listing.isComplete { return nil }
        return Skip(path: path, reason: .tooManyEntries(limit: limits.entries))
    }

    /// Returns the entries of a directory that follow the file after which the walk starts. The
    /// directory that leads to that file is included.
    private func remaining(of listing: DirectoryListing, _ path: String) -> [DirectoryEntry] {
        // A later folder may also contain the file. A later folder is walked completely.
        guard let after, walked.last == after.folder, after.path.utf8.starts(with: (path + "/").utf8) else {
            return listing.entries
        }
        let names = after.path.utf8.dropFirst(path.utf8.count + 1).split(separator: UInt8(ascii: "/"), maxSplits: 1)
        guard let name = names.first else { return listing.entries }
        return listing.entries.filter { entry in
            if entry.name.utf8.elementsEqual(name) { return names.count > 1 }
            return !entry.name.utf8.lexicographicallyPrecedes(name)
        }
    }

    /// Returns the step for an entry; nil if nothing is yielded.
    private mutating func visit(_ entry: DirectoryEntry, path: String) throws(SkipReason) -> Step? {
        let parent = levels[levels.count - 1].descriptor
        var type = entry.type
        if type == .unknown, entry.nameIsExact {
            type = FileType(mode: try parent.status(ofEntry: entry.name, followingLinks: false).st_mode)
        }
        if let scope, !Self.lies(path, in: scope), type != .directory || !Self.lies(scope, in: path) { return nil }
        let level = levels[levels.count - 1]
        let isLeftOut =
            level.isLeftOut || level.rules.leavesOut(directories + [entry.name], isFolder: type == .directory)
        if isLeftOut, scope == nil { return nil }
        if type == .directory {
            if walked.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { return nil }
            try enterDirectory(entry, path: path, parent: parent, isLeftOut: isLeftOut)
            return nil
        }
        if isLeftOut { return File.kind(fileName: entry.name).map { _ in .leftOut(path) } }
        if type == .symbolicLink, entry.nameIsExact, let target = folderBehind(entry.name, in: parent, path: path) {
            throw .linkToFolder(target)
        }
        guard let kind = File.kind(fileName: entry.name) else { return nil }
        guard entry.nameIsExact else { throw .nameNotUTF8 }
        var followingLinks = false
        if type == .symbolicLink {
            type = try Self.target(ofLink: entry.name, in: parent)
            if type == .directory { return nil }
            followingLinks = true
        }
        // Checked before opening, since opening a device can have side effects.
        guard type == .regular else { throw .notRegularFile(type) }
        let opened = try OpenedFile(in: parent, name: entry.name, followingLinks: followingLinks, opener: opener)
        return .file(try File(opened, kind: kind, path: path, directories: directories))
    }

    /// Returns `true` if a path is the folder itself or inside it.
    private static func lies(_ path: String, in folder: String) -> Bool {
        path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: (folder + "/").utf8)
    }

    /// Returns the target of a link to a folder that is not in any of the walked folders.
    private func folderBehind(_ name: String, in directory: Descriptor, path: String) -> String? {
        guard let status = try? directory.status(ofEntry: name, followingLinks: true),
            FileType(mode: status.st_mode) == .directory,
            let target = Self.realPath(path)
        else { return nil }
        return folders.contains { Self.lies(target, in: Self.realPath($0) ?? $0) } ? nil : target
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(validatingCString: real)
    }

    private static func target(ofLink name: String, in directory: Descriptor) throws(SkipReason) -> FileType {
        do throws(SkipReason) {
            return FileType(mode: try directory.status(ofEntry: name, followingLinks: true).st_mode)
        } catch {
            throw error == .vanished ? .danglingLink : error
        }
    }

    private mutating func enterDirectory(
        _ entry: DirectoryEntry, path: String, parent: Descriptor, isLeftOut: Bool
    ) throws(SkipReason) {
        guard entry.nameIsExact else { throw .nameNotUTF8 }
        guard directories.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
        let descriptor = try opener.descriptor(in: parent, name: entry.name, flags: flags)
        let skip = try enter(descriptor, path: path, rules: levels[levels.count - 1].rules)
        levels[levels.count - 1].isLeftOut = isLeftOut
        directories.append(entry.name)
        if let skip { throw skip.reason }
    }
}

/// The limits of a walk. A skip reports the part beyond a limit.
package struct WalkLimits: Sendable {
    /// The maximum depth of directories below a configured folder.
    package var depth = 64
    /// The maximum number of directory entries in total, including hidden ones.
    package var entries = 1_000_000

    package init() {}
}
