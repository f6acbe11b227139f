// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folders whose notes are served, and the only door to them by identifier.
package struct NoteFolders: Sendable {
    /// Absolute paths without a slash at the end, in the order in which they are walked.
    package var paths: [String]
    private let opener: FileOpener

    package init(paths: [String], opener: FileOpener = .system) {
        self.paths = paths
        self.opener = opener
    }

    /// All notes, one at a time.
    package func walk(limits: NoteWalk.Limits = NoteWalk.Limits()) -> NoteWalk {
        NoteWalk(folders: paths, opener: opener, limits: limits)
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
        guard let (folder, components) = locate(identifier), let name = components.last else {
            throw .outsideFolders(identifier)
        }
        guard let kind = NoteKind(fileName: name) else { throw .notANote(identifier) }
        do throws(SkipReason) {
            var directory = try opener.descriptor(in: nil, name: folder, flags: O_RDONLY | O_DIRECTORY)
            for component in components.dropLast() {
                let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
                directory = try opener.descriptor(in: directory, name: component, flags: flags)
            }
            // Before opening, which for a device could do something.
            let type = FileType(mode: try directory.status(ofEntry: name, followingLinks: true).st_mode)
            guard type == .regular else { throw .notRegularFile(type) }
            let note = try OpenedNote(in: directory, name: name, followingLinks: true, opener: opener)
            return (note, kind, components.dropLast())
        } catch {
            throw .skipped(Skip(path: identifier, reason: error))
        }
    }

    /// The folder that holds an identifier, and the names below it; nil for anything a walk would not yield.
    private func locate(_ identifier: String) -> (folder: String, components: [String])? {
        let bytes = identifier.utf8
        guard bytes.count < Int(PATH_MAX), !bytes.contains(0) else { return nil }
        for folder in paths where bytes.starts(with: (folder + "/").utf8) {
            let rest = bytes.dropFirst(folder.utf8.count + 1)
            let components = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            // An empty name, "." and ".." fall under the first two rules.
            if components.contains(where: { $0.isEmpty || $0.first == UInt8(ascii: ".") }) { return nil }
            guard components.count <= NoteWalk.Limits().depth + 1 else { return nil }
            return (folder, components.map { String(Substring($0)) })
        }
        return nil
    }
}

/// Why an identifier led to no note.
package enum NoteLookupError: Error, Sendable, Equatable {
    /// Not the path of a file below a configured folder; the identifier.
    case outsideFolders(String)
    /// The name is not that of a note; the identifier.
    case notANote(String)
    /// It is there, or was, and cannot be taken.
    case skipped(Skip)
}

extension NoteLookupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .outsideFolders(let identifier): "\(identifier.onOneLine) is not in a folder that Journal serves"
        case .notANote(let identifier): "\(identifier.onOneLine) is not named like a note"
        case .skipped(let skip): skip.description
        }
    }
}

extension NoteLookupError {
    /// Whether the note was deleted, as notes are.
    package var isGone: Bool {
        if case .skipped(let skip) = self { return skip.reason == .vanished }
        return false
    }

    /// Whether it says something about the machine at this moment, not about the note.
    package var mayPass: Bool {
        if case .skipped(let skip) = self, case .system = skip.reason { return true }
        return false
    }
}
