// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport
import TestSupport

@testable import FileWatching

/// An owner that applies all reported changes, as an index would. It keeps the content of its files
/// by path.
struct FileOwner {
    static let name = "org.example.notes"
    /// The known files.
    var files: [String: String] = [:]
    /// A number for each item, which is kept when its file is moved.
    var numbers: [String: Int] = [:]
    private var next = 0

    /// Processes changes by reading the current state of the disk.
    mutating func take(_ changes: FileChanges) {
        for change in changes.changes {
            switch change {
            case .changed(let path): read(path)
            case .removed(let path):
                // The file may already exist again. Another change reports that.
                if readable(path) == nil { drop(path) }
            case .moved(let old, let new):
                if readable(old) == nil, let number = numbers.removeValue(forKey: old) {
                    files[old] = nil
                    numbers[new] = number
                }
                read(new)
            }
        }
    }

    private mutating func drop(_ path: String) {
        files[path] = nil
        numbers[path] = nil
    }

    private mutating func read(_ path: String) {
        guard let content = readable(path) else { return drop(path) }
        files[path] = content
        if numbers[path] == nil {
            numbers[path] = next
            next += 1
        }
    }

    private func readable(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return try? String(contentsOfFile: path, encoding: .utf8)
    }
}

extension FileSnapshot {
    /// Returns an owner's next reported changes; `nil` if there are none.
    func next(of owner: String, limit: Int) throws(FileWatchingError) -> FileChanges? {
        guard case .changes(let changes) = try changes(of: owner, limit: limit) else { return nil }
        return changes
    }
}

/// Calls a function for each path below a folder, sorted by name, with a flag for folders.
private func walk(_ folder: String, _ visit: (_ path: String, _ name: String, _ isFolder: Bool) -> Bool) {
    for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() {
        let path = folder + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0 else { continue }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if visit(path, name, isFolder), isFolder { walk(path, visit) }
    }
}

/// Returns the result of a fresh listing of a tree: regular files and links to them, without hidden
/// names other than `.searchlightignore`, by path.
func filesOnDisk(_ root: String) -> [String: String] {
    var files: [String: String] = [:]
    walk(root) { path, name, isFolder in
        guard !name.hasPrefix(".") || name == ".searchlightignore" && !isFolder else { return false }
        var status = stat()
        if !isFolder, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            files[path] = try? String(contentsOfFile: path, encoding: .utf8)
        }
        return true
    }
    return files
}

/// Makes random changes to a tree of files, as editors and users do.
struct RandomTree {
    let root: String
    var random: SplitMix64
    private var written = 0

    init(root: String, seed: UInt64) {
        self.root = root
        random = SplitMix64(seed: seed)
    }

    private func all() -> (files: [String], folders: [String]) {
        var (files, folders) = ([String](), [root])
        walk(root) { path, _, isFolder in
            if isFolder { folders.append(path) } else { files.append(path) }
            return true
        }
        return (files, folders)
    }

    private mutating func name() -> String {
        ["a", "b", "c", "d", "é", ".hidden", ".searchlightignore", "x y", "note.md"].randomElement(using: &random)
            ?? "a"
    }

    private mutating func content() -> String {
        written += 1
        return "text \(written) " + String(repeating: "x", count: Int.random(in: 0..<40, using: &random))
    }

    /// Makes one change.
    ///
    /// - Returns: A description of the change.
    @discardableResult
    mutating func step() -> String {
        let (files, folders) = all()
        let folder = folders.randomElement(using: &random) ?? root
        let place = folder + "/" + name()
        let file = files.randomElement(using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1, 2:
            write(content(), to: place)
            return "write \(place)"
        case 3:
            guard let file else { return "nothing" }
            let text = content()
            if let handle = FileHandle(forWritingAtPath: file) {
                for part in text.split(separator: " ") { handle.write(Data(part.utf8)) }
                try? handle.truncate(atOffset: UInt64(text.utf8.count - 2))
                try? handle.close()
            }
            return "write in pieces \(file)"
        case 4, 5:
            guard let file else { return "nothing" }
            // Saves like an editor that replaces the old file with a new one.
            let temporary = file + ".tmp"
            write(content(), to: temporary)
            rename(temporary, file)
            return "replace \(file)"
        case 6:
            guard let file else { return "nothing" }
            rename(file, place)
            return "rename \(file) to \(place)"
        case 7:
            guard let file else { return "nothing" }
            unlink(file)
            return "delete \(file)"
        case 8:
            mkdir(place, 0o700)
            write(content(), to: place + "/first")
            return "make folder \(place)"
        case 9:
            let moved = folders.dropFirst().randomElement(using: &random)
            guard let moved else { return "nothing" }
            rename(moved, place)
            return "rename folder \(moved) to \(place)"
        case 10:
            guard let gone = folders.dropFirst().randomElement(using: &random) else { return "nothing" }
            try? FileManager.default.removeItem(atPath: gone)
            return "delete folder \(gone)"
        case 11:
            guard let file else { return "nothing" }
            link(file, place)
            return "link \(file) as \(place)"
        case 12:
            guard let file else { return "nothing" }
            symlink(file, place)
            return "symbolic link \(place) to \(file)"
        default:
            guard let file else { return "nothing" }
            // Saves like an editor that keeps a copy of the old file.
            rename(file, file + "~")
            write(content(), to: file)
            unlink(file + "~")
            return "save with a copy \(file)"
        }
    }

    private func write(_ text: String, to path: String) {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard number >= 0 else { return }
        _ = text.withCString { Glibc.write(number, $0, strlen($0)) }
        close(number)
    }
}
