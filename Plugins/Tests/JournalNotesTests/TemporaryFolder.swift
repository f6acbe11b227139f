// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import FileReading
@testable import JournalNotes

/// A test's own folder, which is removed with its contents at the end.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/journal-tests-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    subscript(name: String) -> String { path + "/" + name }

    /// Writes a file, and creates its parent directories.
    func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    func write(_ bytes: Data, to name: String) throws {
        let url = URL(filePath: self[name])
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self[name], withDestinationPath: target)
    }

    /// Returns the steps of a walk as `note NAME` or `skip NAME: REASON`, with names relative to
    /// the folder.
    func walk(
        folders: [String]? = nil, opener: FileOpener = .system, limits: WalkLimits = .init()
    ) -> [String] {
        NoteFolders(paths: folders ?? [path], opener: opener).walk(limits: limits).map { step in
            switch step {
            case .file(let file): "note " + file.path.dropFirst(path.utf8.count + 1)
            case .leftOut(let path): "left out " + path.dropFirst(self.path.utf8.count + 1)
            case .skipped(let skip): "skip \(skip.path.dropFirst(path.utf8.count + 1)): \(skip.reason)"
            }
        }
    }

    func note(_ name: String, _ text: String) throws -> Note {
        try write(text, to: name)
        return try Note(#require(try NoteFile(contentsOf: self[name])), timeZone: .gmt)
    }
}
