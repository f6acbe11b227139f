// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folders whose notes are served, and the only door to them by identifier.
package struct NoteFolders: Sendable {
    /// Absolute paths without a slash at the end, in the order in which they are walked.
    package var paths: [String]
    /// Folders that are configured and cannot be entered now. What lies in them is not walked, and not known to be gone.
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

    /// All notes, one at a time.
    ///
    /// - Parameter visiting: called with the directory's path for each entry that is met, whether or not it is yielded
    package func walk(
        limits: NoteWalk.Limits = NoteWalk.Limits(), visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) -> NoteWalk {
        NoteWalk(
            folders: paths, exclusions: exclusions, scope: nil, opener: opener, limits: limits, visiting: visiting)
    }

    package static func isIgnoreFile(_ path: String) -> Bool { path.hasSuffix("/" + IgnoreRules.fileName) }

    /// The notes in the folder of a file `.searchlightignore` and below, those that are left out among them; nil for any other file.
    package func walk(
        besideIgnoreFile path: String, visiting: @escaping (_ directory: String) -> Void = { _ in }
    ) -> NoteWalk? {
        guard Self.isIgnoreFile(path) else { return nil }
        let scope = String(path.dropLast(IgnoreRules.fileName.count + 1))
        let isServed = paths.contains { $0.utf8.elementsEqual(scope.utf8) } || locate(scope) != nil
        guard isServed else { return nil }
        // The innermost of the configured folders that hold it, as a walk of all would come to it.
        let holding = paths.filter { scope.utf8.elementsEqual($0.utf8) || Self.lies(scope, in: $0) }
        return NoteWalk(
            folders: holding, exclusions: exclusions, scope: scope, opener: opener, limits: NoteWalk.Limits(),
            visiting: visiting)
    }

    /// Whether it is a whole folder that a walk did not take.
    package func lost(_ skip: Skip) -> Bool {
        if case .tooManyEntries = skip.reason { return false }
        return paths.contains { $0.utf8.elementsEqual(skip.path.utf8) }
    }

    /// Throws if one of the folders can no longer be entered.
    package func check() throws(Skip) {
        for path in paths {
            do throws(SkipReason) {
                _ = try opener.folder(path)
            } catch {
                throw Skip(path: path, reason: error)
            }
        }
    }

    /// The note that a walk would find under that identifier.
    ///
    /// Identifiers come from outside and are not trusted: below a configured folder no symbolic link to a directory is
    /// passed, no hidden name and no `..`.
    package func file(withIdentifier identifier: String) throws(NoteLookupError) -> NoteFile {
        let (note, kind, directories) = try open(identifier)
        do throws(SkipReason) {
            return try note.read(path: identifier, directories: directories, kind: kind)
        } catch {
            throw .skipped(Skip(path: identifier, reason: error))
        }
    }

    /// The kind of the note under that identifier, whose file can be opened; the same rules, without reading it.
    package func kind(ofIdentifier identifier: String) throws(NoteLookupError) -> NoteKind {
        try open(identifier).kind
    }

    private func open(
        _ identifier: String
    ) throws(NoteLookupError) -> (note: OpenedNote, kind: NoteKind, directories: [String]) {
        let located = locate(identifier)
        // One folder may lie in another: what is in the inner one is not known while that is away.
        for folder in unavailable where Self.lies(identifier, in: folder) {
            if folder.utf8.count > located?.folder.utf8.count ?? 0 {
                throw .folderUnavailable(identifier: identifier, folder: folder)
            }
        }
        guard let (folder, components) = located, let name = components.last else {
            throw .outsideFolders(identifier)
        }
        guard let kind = NoteKind(fileName: name) else { throw .notANote(identifier) }
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
            // Before opening, which for a device could do something.
            let type = FileType(mode: try directory.status(ofEntry: name, followingLinks: true).st_mode)
            guard type == .regular else { throw .notRegularFile(type) }
            let note = try OpenedNote(in: directory, name: name, followingLinks: true, opener: opener)
            return (note, kind, components.dropLast())
        } catch .leftOut {
            throw .excluded(identifier)
        } catch {
            throw .skipped(Skip(path: identifier, reason: error))
        }
    }

    private func enter(_ folder: String, for identifier: String) throws(NoteLookupError) -> Descriptor {
        do throws(SkipReason) {
            return try opener.folder(folder)
        } catch .system(let code) {
            throw .skipped(Skip(path: identifier, reason: .system(errno: code)))
        } catch {
            throw .folderUnavailable(identifier: identifier, folder: folder)
        }
    }

    /// The folder that holds an identifier, and the names below it; nil for anything a walk would not yield.
    func locate(_ identifier: String) -> (folder: String, components: [String])? {
        let bytes = identifier.utf8
        guard bytes.count < Int(PATH_MAX), !bytes.contains(0) else { return nil }
        for folder in paths where Self.lies(identifier, in: folder) {
            let rest = bytes.dropFirst(folder.utf8.count + 1)
            let components = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // An empty name, "." and ".." fall under the first two rules.
            if components.contains(where: { $0.isEmpty || $0.first == UInt8(ascii: ".") }) { return nil }
            guard components.count <= NoteWalk.Limits().depth + 1 else { return nil }
            return (folder, components.map { String(Substring($0)) })
        }
        return nil
    }

    private static func lies(_ identifier: String, in folder: String) -> Bool {
        identifier.utf8.starts(with: (folder + "/").utf8)
    }
}

/// A note that was moved, by its identifiers.
package struct NoteMove: Sendable {
    package var old: String
    package var new: String

    package init(old: String, new: String) {
        self.old = old
        self.new = new
    }
}

extension NoteFolders {
    /// The new identifiers of the items that go with their notes, by the old ones.
    ///
    /// An item stays where it is if there is a note at the old place again that was not moved there: programs that keep the note
    /// before a change move it aside and write another one, which is the same note to people.
    package func renames(_ moves: [NoteMove]) -> [String: String] {
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

/// Why an identifier led to no note.
package enum NoteLookupError: Error, Sendable, Equatable {
    /// Not the path of a file below a configured folder; the identifier.
    case outsideFolders(String)
    /// It lies in a configured folder that cannot be entered now, such as one on a disk that is not mounted.
    case folderUnavailable(identifier: String, folder: String)
    /// The name is not that of a note; the identifier.
    case notANote(String)
    /// The settings or a file `.searchlightignore` leave it out; the identifier.
    case excluded(String)
    /// It is there, or was, and cannot be taken.
    case skipped(Skip)
}

extension NoteLookupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outsideFolders(let identifier): "\(identifier.onOneLine) is not in a folder that Journal serves"
        case .folderUnavailable(let identifier, let folder):
            "\(identifier.onOneLine) cannot be reached, for the folder \(folder.onOneLine) is missing or unreadable"
        case .excluded(let identifier): "\(identifier.onOneLine) is left out by a pattern"
        case .notANote(let identifier): "\(identifier.onOneLine) is not named like a note"
        case .skipped(let skip) where isGone: "\(skip.path.onOneLine) is gone"
        case .skipped(let skip): skip.description
        }
    }
}

extension NoteLookupError {
    /// Whether the note was deleted, as notes are.
    package var isGone: Bool {
        if case .skipped(let skip) = self { return [.vanished, .danglingLink].contains(skip.reason) }
        return false
    }

    /// Whether it says something about the machine at this moment, not about the note.
    package var mayPass: Bool {
        if case .skipped(let skip) = self, case .system = skip.reason { return true }
        return false
    }
}

/// What is to be done about an item of the index.
package enum NoteState: Sendable {
    /// Donate it again.
    case note(NoteFile)
    /// Delete it; with a complaint if more than a deleted file is the reason.
    case gone(complaint: String?)
    /// Leave it, for it is not known to be gone.
    case kept(complaint: String)
}

extension NoteFolders {
    /// What became of the item with that identifier.
    ///
    /// - Parameter isComplete: whether what lies in none of the folders is gone
    /// - Throws: what may pass
    package func state(
        ofIdentifier identifier: String, isComplete: Bool
    ) throws(NoteLookupError) -> NoteState {
        do {
            return .note(try file(withIdentifier: identifier))
        } catch {
            if error.mayPass { throw error }
            switch error {
            case .folderUnavailable: return .kept(complaint: "\(error); it is kept")
            case .outsideFolders where !isComplete: return .kept(complaint: "\(error); it is kept")
            case .excluded: return .gone(complaint: nil)
            default: return .gone(complaint: error.isGone ? nil : error.description)
            }
        }
    }
}
