// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// The file changes that concern an extension for folders.
package struct FileChanges<File: ServedFile> {
    /// The paths of files that changed or were removed.
    package private(set) var identifiers: [String] = []
    package private(set) var moves: [FileMove] = []
    /// The paths of `.searchlightignore` files that changed.
    package private(set) var ignoreFiles: [String] = []

    package init(_ changes: [CSFileChange]) {
        for change in changes {
            switch change {
            case .changed(let file), .removed(let file):
                identifiers += [Self.served(file)].compactMap { $0 }
                addIgnoreFiles(among: [file])
            case .moved(let from, let to):
                addIgnoreFiles(among: [from, to])
                if let old = Self.served(from), let new = Self.served(to) {
                    moves.append(FileMove(old: old, new: new))
                } else {
                    identifiers += [Self.served(from), Self.served(to)].compactMap { $0 }
                }
            }
        }
    }

    private static func served(_ file: URL) -> String? {
        File.kind(fileName: file.lastPathComponent).map { _ in file.path(percentEncoded: false) }
    }

    private mutating func addIgnoreFiles(among files: [URL]) {
        ignoreFiles += files.map { $0.path(percentEncoded: false) }.filter { ServedFolders<File>.isIgnoreFile($0) }
    }
}
