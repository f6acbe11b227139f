// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folders whose files are served. All access to files by identifier uses this type.
package struct ServedFolders<File: ServedFile>: Sendable {
    /// The absolute paths, without a trailing slash, in walk order.
    package var paths: [String]
    /// The configured folders that are currently not accessible. Their files are not walked and may
    /// still exist.
    package var unavailable: [String]
    let exclusions: [Exclusion]
    let opener: FileOpener

    package init(paths: [String], unavailable: [String] = [], opener: FileOpener = .system) {
        self.init(paths: paths, unavailable: unavailable, exclusions: [], opener: opener)
    }

    init(paths: [String], unavailable: [String], exclusions: [Exclusion], opener: FileOpener) {
        self.paths = paths
        self.unavailable = unavailable
        self.exclusions = exclusions
        self.opener = opener
    }

    /// Returns a sequence of all files.
    ///
    /// - Parameters:
    ///   - after: The path of the file after which the sequence starts; nil to start at the
    ///     beginning.
    ///   - visiting: Called for each entry with the directory's path, even if the entry is not
    ///     yielded.
    package func walk(
        limits: WalkLimits = WalkLimits(), after: String? = nil,
        visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) -> FolderWalk<File> {
        FolderWalk(
            folders: paths, exclusions: exclusions, scope: nil, opener: opener, limits: limits, after: after,
            visiting: visiting)
    }

    package static func isIgnoreFile(_ path: String) -> Bool { path.hasSuffix("/" + IgnoreRules.fileName) }

    /// Returns the files in and below the folder of a `.searchlightignore` file, including excluded
    /// files; nil for any other file.
    package func walk(
        besideIgnoreFile path: String, visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) -> FolderWalk<File>? {
        guard Self.isIgnoreFile(path) else { return nil }
        let scope = String(path.dropLast(IgnoreRules.fileName.count + 1))
        let isServed = paths.contains { $0.utf8.elementsEqual(scope.utf8) } || locate(scope) != nil
        guard isServed else { return nil }
        // The configured folders that contain the scope, as in a complete walk.
        let holding = paths.filter { scope.utf8.elementsEqual($0.utf8) || Self.lies(scope, in: $0) }
        return FolderWalk(
            folders: holding, exclusions: exclusions, scope: scope, opener: opener, limits: WalkLimits(),
            visiting: visiting)
    }

    /// Returns `true` if the walk skipped a whole configured folder.
    package func lost(_ skip: Skip) -> Bool {
        if case .tooManyEntries = skip.reason { return false }
        return paths.contains { $0.utf8.elementsEqual(skip.path.utf8) }
    }

    /// Throws if one of the folders is no longer accessible.
    package func check() throws(Skip) {
        for path in paths {
            do throws(SkipReason) {
                _ = try opener.folder(path)
            } catch {
                throw Skip(path: path, reason: error)
            }
        }
    }

    /// Returns the file that a walk would find with this identifier.
    ///
    /// Identifiers come from outside and are not trusted. Below a configured folder, the path must
    /// not contain a symbolic link to a directory, a hidden name or `..`.
    package func file(withIdentifier identifier: String) throws(FileLookupError) -> File {
        let (file, kind, directories) = try open(identifier)
        do throws(SkipReason) {
            return try File(file, kind: kind, path: identifier, directories: directories)
        } catch {
            throw .skipped(Skip(path: identifier, reason: error))
        }
    }

    /// Returns the kind of the file with this identifier if the file can be opened. Applies the
    /// same rules, but does not read the file.
    package func kind(ofIdentifier identifier: String) throws(FileLookupError) -> File.Kind {
        try open(identifier).kind
    }

    private func open(
        _ identifier: String
    ) throws(FileLookupError) -> (file: OpenedFile, kind: File.Kind, directories: [String]) {
        let located = locate(identifier)
        // Folders may be nested: while the inner folder is not accessible, it is unknown whether
        // its files exist.
        for folder in unavailable where Self.lies(identifier, in: folder) {
            if folder.utf8.count > located?.folder.utf8.count ?? 0 {
                throw .folderUnavailable(identifier: identifier, folder: folder)
            }
        }
        guard let (folder, components) = located, let name = components.last else {
            throw .outsideFolders(identifier)
        }
        guard let kind = File.kind(fileName: name) else { throw .otherName(identifier) }
        var directory = try enter(folder, for: identifier)
        var rules = IgnoreRules(exclusions, in: folder).entering(directory, depth: 0, opener: opener)
        var isLeftOut = false
        do throws(SkipReason) {
            for (depth, component) in components.dropLast().enumerated() {
                isLeftOut = isLeftOut || rules.leavesOut(Array(components[...depth]), isFolder: true)
                let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
                directory = try opener.descriptor(in: directory, name: component, flags: flags)
                rules = rules.entering(directory, depth: depth + 1, opener: opener)
            }
            isLeftOut = isLeftOut || rules.leavesOut(components, isFolder: false)
            if isLeftOut { throw SkipReason.leftOut }
            // Checked before opening, since opening a device can have side effects.
            let type = FileType(mode: try directory.status(ofEntry: name, followingLinks: true).st_mode)
            guard type == .regular else { throw .notRegularFile(type) }
            let file = try OpenedFile(in: directory, name: name, followingLinks: true, opener: opener)
            return (file, kind, components.dropLast())
        } catch .leftOut {
            throw .excluded(identifier)
        } catch {
            throw .skipped(Skip(path: identifier, reason: error))
        }
    }

    private func enter(_ folder: String, for identifier: String) throws(FileLookupError) -> Descriptor {
        do throws(SkipReason) {
            return try opener.folder(folder)
        } catch .system(let code) {
            throw .skipped(Skip(path: identifier, reason: .system(errno: code)))
        } catch {
            throw .folderUnavailable(identifier: identifier, folder: folder)
        }
    }

    /// Returns the folder that contains an identifier, and the names below it; nil for a path that
    /// no walk would yield.
    func locate(_ identifier: String) -> (folder: String, components: [String])? {
        let bytes = identifier.utf8
        guard bytes.count < Int(PATH_MAX), !bytes.contains(0) else { return nil }
        for folder in paths where Self.lies(identifier, in: folder) {
            let rest = bytes.dropFirst(folder.utf8.count + 1)
            let components = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // These two checks also reject an empty name, "." and "..".
            if components.contains(where: { $0.isEmpty || $0.first == UInt8(ascii: ".") }) { return nil }
            guard components.count <= WalkLimits().depth + 1 else { return nil }
            return (folder, components.map { String(Substring($0)) })
        }
        return nil
    }

    private static func lies(_ identifier: String, in folder: String) -> Bool {
        identifier.utf8.starts(with: (folder + "/").utf8)
    }
}

extension ServedFolders {
    /// Returns the contents of a regular file below one of the folders, with the rules for served
    /// files. Returns nil for a symbolic link, any other kind of file, or a file larger than
    /// `limit` bytes.
    package func bytes(ofFile path: String, limit: Int) -> [UInt8]? {
        guard let (folder, components) = locate(path), let name = components.last else { return nil }
        do throws(SkipReason) {
            var directory = try opener.folder(folder)
            for component in components.dropLast() {
                directory = try opener.descriptor(
                    in: directory, name: component, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            }
            // Checked before opening, since opening a device can have side effects.
            let status = try directory.status(ofEntry: name, followingLinks: false)
            guard FileType(mode: status.st_mode) == .regular, status.st_size <= limit else { return nil }
            let file = try OpenedFile(in: directory, name: name, followingLinks: false, opener: opener)
            let bytes = try file.readAll(limit: limit + 1)
            return bytes.count <= limit ? bytes : nil
        } catch {
            return nil
        }
    }
}

/// The identifiers of a moved file before and after the move.
package struct FileMove: Sendable {
    package var old: String
    package var new: String

    package init(old: String, new: String) {
        self.old = old
        self.new = new
    }
}

extension ServedFolders {
    /// Returns the new identifiers of the items to rename, by old identifier.
    ///
    /// An item keeps its identifier if the old path now holds another file that was not moved
    /// there. Programs that keep a backup rename the file and write a new one, which the user
    /// considers the same file.
    package func renames(_ moves: [FileMove]) -> [String: String] {
        let targets = Set(moves.map(\.new))
        var renames: [String: String] = [:]
        var taken: Set<String> = []
        for move in moves where renames[move.old] == nil && move.old != move.new {
            guard (try? kind(ofIdentifier: move.new)) != nil, targets.contains(move.old) || isGone(move.old),
                taken.insert(move.new).inserted
            else { continue }
            renames[move.old] = move.new
        }
        return renames
    }

    private func isGone(_ identifier: String) -> Bool {
        do {
            _ = try kind(ofIdentifier: identifier)
            return false
        } catch {
            return error.isGone
        }
    }
}

/// The reason why an identifier does not lead to a file.
package enum FileLookupError: Error, Sendable, Equatable {
    /// The path is not below a configured folder. The value is the identifier.
    case outsideFolders(String)
    /// The file is in a configured folder that is currently not accessible, for example on a disk
    /// that is not mounted.
    case folderUnavailable(identifier: String, folder: String)
    /// The extension does not serve files with this name. The value is the identifier.
    case otherName(String)
    /// The settings or a `.searchlightignore` file exclude the file. The value is the identifier.
    case excluded(String)
    /// The file cannot be read, or no longer exists.
    case skipped(Skip)
}

extension FileLookupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outsideFolders(let identifier): "\(identifier.onOneLine) is not in a folder of the settings"
        case .folderUnavailable(let identifier, let folder):
            "\(identifier.onOneLine) is not reachable, because the folder \(folder.onOneLine) is missing or unreadable"
        case .excluded(let identifier): "\(identifier.onOneLine) is left out by a pattern"
        case .otherName(let identifier): "\(identifier.onOneLine) is not named like a file of this extension"
        case .skipped(let skip) where isGone: "\(skip.path.onOneLine) is gone"
        case .skipped(let skip): skip.description
        }
    }
}

extension FileLookupError {
    /// `true` if the file was deleted.
    package var isGone: Bool {
        if case .skipped(let skip) = self { return [.vanished, .danglingLink].contains(skip.reason) }
        return false
    }

    /// `true` if the file cannot be read now, and its items are kept; see
    /// ``SkipReason/keepsItems``.
    package var keepsItems: Bool {
        if case .skipped(let skip) = self { return skip.reason.keepsItems }
        return false
    }

    /// `true` if the error may be temporary, because it was caused by the machine, not the file.
    package var mayPass: Bool {
        if case .skipped(let skip) = self, case .system = skip.reason { return true }
        return false
    }
}

/// The decision about an item in the index.
package enum ItemState<File: Sendable>: Sendable {
    /// Donate the item again.
    case file(File)
    /// Delete the item. The error is the reason, unless the file was simply deleted.
    case gone(FileLookupError?)
    /// Keep the item, because the file may still exist.
    case kept(complaint: String)
}

extension ServedFolders {
    /// Returns the action for the item with this identifier.
    ///
    /// - Parameter isComplete: `true` if a file outside all folders is considered deleted.
    /// - Throws: An error that may be temporary.
    package func state(
        ofIdentifier identifier: String, isComplete: Bool
    ) throws(FileLookupError) -> ItemState<File> {
        do {
            return .file(try file(withIdentifier: identifier))
        } catch {
            if error.mayPass { throw error }
            switch error {
            case .folderUnavailable: return .kept(complaint: "\(error); it is kept")
            case .outsideFolders where !isComplete: return .kept(complaint: "\(error); it is kept")
            case .excluded: return .gone(nil)
            default: return .gone(error.isGone ? nil : error)
            }
        }
    }
}
