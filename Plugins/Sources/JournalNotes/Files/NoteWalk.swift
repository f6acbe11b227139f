// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Walks folders and yields their notes one at a time, so that memory does not grow with them.
///
/// Entries come in the order of their names' bytes, a directory's content where its name stands. Symbolic links to
/// files are followed, those to directories are not entered: what they lead to is walked where it lies in a configured folder, and
/// else yielded as a ``Skip``. Each name of a file is a note, so that one name says what a walk
/// would yield. A folder in another one is walked once. Hidden entries and files that do not look like notes pass silently; every other file that cannot be
/// taken is yielded as a ``Skip``. One thread at a time.
package struct NoteWalk: Sequence, IteratorProtocol {
    /// One step of the walk.
    package enum Step: Sendable {
        case note(NoteFile)
        case skipped(Skip)
        /// The path of a note that a pattern leaves out; only where those are asked for.
        case leftOut(String)
    }

    /// How far a walk goes; what lies beyond is named in a skip.
    package struct Limits: Sendable {
        /// Directories below a configured folder.
        package var depth = 64
        /// Directory entries in all, hidden ones included.
        package var entries = 1_000_000

        package init() {}
    }

    /// A directory being walked; the entries still to come are in reverse order.
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
    /// Names of the directories of `levels` but the first.
    private var directories: [String] = []
    private var entriesMet = 0
    /// The configured folders that were entered.
    private var walked: [String] = []

    /// - Parameters:
    ///   - folders: absolute paths; a folder may itself be a symbolic link
    ///   - visiting: called with the directory's path for each entry that is met, whether or not it is yielded
    package init(
        folders: [String], opener: FileOpener = .system, limits: Limits = Limits(),
        visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) {
        self.init(folders: folders, exclusions: [], scope: nil, opener: opener, limits: limits, visiting: visiting)
    }

    /// - Parameter scope: the folder, one of those or below one, whose notes alone are yielded; then those that are left out, too
    init(
        folders: [String], exclusions: [Exclusion], scope: String?, opener: FileOpener, limits: Limits,
        visiting: @escaping (_ directory: String) -> Void
    ) {
        self.folders = folders
        self.exclusions = exclusions
        self.scope = scope
        foldersToCome = folders[...]
        self.opener = opener
        self.limits = limits
        self.visiting = visiting
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

    /// The next entry of the innermost directory that has one left; leaves the others.
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

    /// Returns a skip if the directory had too many entries; those that were met are walked.
    private mutating func enter(
        _ descriptor: Descriptor, path: String, rules: IgnoreRules
    ) throws(SkipReason) -> Skip? {
        let listing = try DirectoryListing(of: descriptor, limit: limits.entries - entriesMet) { visiting(path) }
        entriesMet += listing.entriesMet
        let rules = rules.entering(descriptor, depth: levels.count, opener: opener)
        levels.append(Level(descriptor: descriptor, path: path, rules: rules, remaining: listing.entries.reversed()))
        if listing.isComplete { return nil }
        return Skip(path: path, reason: .tooManyEntries(limit: limits.entries))
    }

    /// The note behind an entry; nil if there is none to yield.
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
        if isLeftOut { return NoteKind(fileName: entry.name).map { _ in .leftOut(path) } }
        if type == .symbolicLink, entry.nameIsExact, let target = folderBehind(entry.name, in: parent, path: path) {
            throw .linkToFolder(target)
        }
        guard let kind = NoteKind(fileName: entry.name) else { return nil }
        guard entry.nameIsExact else { throw .nameNotUTF8 }
        var followingLinks = false
        if type == .symbolicLink {
            type = try Self.target(ofLink: entry.name, in: parent)
            if type == .directory { return nil }
            followingLinks = true
        }
        // Before opening, which for a device could do something.
        guard type == .regular else { throw .notRegularFile(type) }
        let opened = try OpenedNote(in: parent, name: entry.name, followingLinks: followingLinks, opener: opener)
        return .note(try opened.read(path: path, directories: directories, kind: kind))
    }

    /// Whether a path is a folder or lies in it.
    private static func lies(_ path: String, in folder: String) -> Bool {
        path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: (folder + "/").utf8)
    }

    /// The folder to which a link leads, if it is in none of those that are walked.
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
