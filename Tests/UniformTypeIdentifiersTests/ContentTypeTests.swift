// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UniformTypeIdentifiers

/// The type of a file on disk, according to `URLResourceValues`.
@Suite struct ContentTypeTests {
    private func type(of url: URL) throws -> UTType? { try url.resourceValues(forKeys: [.contentTypeKey]).contentType }

    @Test func kindAndNameTellTheType() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "types-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = folder.appending(path: "a.txt")
        let program = folder.appending(path: "program")
        let link = folder.appending(path: "link.txt")
        try Data("x".utf8).write(to: text)
        try Data("x".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: text)
        #expect(try type(of: text) == .plainText)
        #expect(try type(of: program) == .unixExecutable)
        #expect(try type(of: link) == .symbolicLink)
        #expect(try type(of: folder) == .folder)
        #expect(try type(of: URL(filePath: "/")) == .volume)
        #expect(try type(of: folder.appending(path: "none.txt")) == nil)
    }

    @Test func nothingIsToldThatWasNotAskedFor() throws {
        #expect(try URL(filePath: "/").resourceValues(forKeys: [.isDirectoryKey]).contentType == nil)
    }
}
