// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A temporary file for one receiver, in a private folder with mode 0700.
struct TemporaryCopy: Sendable {
    let url: URL
    private let folder: URL

    /// Copies a file or folder.
    init(of original: URL, as suggestedName: String?, type: String) throws {
        // For a symbolic link, copies its target.
        let original = original.resolvingSymlinksInPath()
        try self.init(named: suggestedName ?? original.lastPathComponent, type) {
            try FileManager.default.copyItem(at: original, to: $0)
        }
    }

    /// Writes a file.
    init(of data: Data, as suggestedName: String?, type: String) throws {
        try self.init(named: suggestedName ?? "item", type) { try data.write(to: $0) }
    }

    private init(named name: String, _ type: String, _ write: (URL) throws -> Void) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("item-\(UUID().uuidString)")
        url = folder.appendingPathComponent(Self.fileName(name, type))
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do { try write(url) } catch {
            remove()
            throw error
        }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The maximum length of a file name, in bytes.
    private static let maximumNameBytes = 255

    /// Returns a valid file name with the type's preferred extension, unless the name has a
    /// suitable one.
    static func fileName(_ name: String, _ type: String) -> String {
        var name = String(name.split(separator: "/").last ?? "").replacingOccurrences(of: "\0", with: "")
        if ["", ".", ".."].contains(name) { name = "item" }
        let known = UTType(type)
        let isMarked = UTType(filenameExtension: (name as NSString).pathExtension).map { marked in
            !marked.isDynamic && (known.map { marked.conforms(to: $0) } ?? true)
        }
        var suffix = ""
        if isMarked != true, let preferred = known?.preferredFilenameExtension { suffix = ".\(preferred)" }
        while name.utf8.count + suffix.utf8.count > maximumNameBytes { name.removeLast() }
        return name + suffix
    }
}
