// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Promises

@Suite("A name for a dropped item", .timeLimit(.minutes(10)))
struct FileNameTests {
    @Test(
        "is one visible component, for any name of the item",
        arguments: [
            ("Notes", "txt", "Notes.txt"), ("Notes.txt", "txt", "Notes.txt"), ("Notes.TXT", "txt", "Notes.txt"),
            ("Notes.html", "txt", "Notes.html.txt"), ("a/b/../c", "txt", "a-b-..-c.txt"), ("../../etc", nil, "-..-etc"),
            (".hidden", nil, "hidden"), ("..", "txt", "item.txt"), ("", nil, "item"), ("a\nb\t c", nil, "a b c"),
            ("a\u{1B}[31mb\u{0}", nil, "a[31mb"), ("gpj\u{202E}exe", nil, "gpjexe"), ("x", "a/b", "x.a-b"),
            (" spaced ", "t", "spaced.t"), ("x", "..", "x"),
        ] as [(String, String?, String)])
    func made(title: String, fileExtension: String?, expected: String) {
        #expect(FileName(title: title, fileExtension: fileExtension).numbered(1) == expected)
    }

    @Test("fits the limits of file systems, with its number, and splits no character")
    func long() {
        for text in [
            String(repeating: "a", count: 300), String(repeating: "é", count: 200), String(repeating: "👩‍👩‍👧", count: 90),
        ] {
            let name = FileName(title: text, fileExtension: "html")
            #expect(name.numbered(10_000).utf8.count <= 255)
            #expect(name.numbered(1).utf8.count > 200)
            #expect(text.hasPrefix(name.stem))
            #expect(name.numbered(1).hasSuffix(".html"))
        }
    }

    @Test("gets a number if it exists, and the existing file is unchanged", arguments: [false, true])
    func collisions(anonymous: Bool) throws {
        let folder = try TemporaryFolder()
        let name = FileName(title: "Page", fileExtension: "html")
        try folder.write([1], to: "Page.html")
        try FileManager.default.createDirectory(
            atPath: folder.path("Page (2).html"), withIntermediateDirectories: false)
        #expect(symlink("/nowhere", folder.path("Page (3).html")) == 0)
        let staged = try StagedFile.create(
            for: folder.path("Page.html"), existing: nil, token: 5, isAnonymous: anonymous)
        #expect(write(staged.number, "new", 3) == 3)
        #expect(try staged.commit(as: name) == folder.path("Page (4).html"))
        #expect(try folder.read("Page (4).html") == Array("new".utf8))
        #expect(try folder.read("Page.html") == [1])
        #expect(try folder.names.count == 4)
    }

    @Test("is never used twice by concurrent drops")
    func race() async throws {
        let folder = try TemporaryFolder()
        let name = FileName(title: "Page", fileExtension: "html")
        let paths = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try Delivery.deliver(
                        .data(.inline([UInt8(number)])), to: .folder(path: folder.path, name: name),
                        token: UInt64(number)
                    ).path
                }
            }
            return try await group.reduce(into: Set<String>()) { if let path = $1 { $0.insert(path) } }
        }
        #expect(paths.count == 40)
        #expect(try folder.names.count == 40)
    }

    @Test(
        "is reserved by a placeholder if the file system cannot exclude a replacement",
        arguments: [false, true])
    func placeholder(isFolder: Bool) throws {
        let folder = try TemporaryFolder()
        func make() throws {
            if isFolder {
                try FileManager.default.createDirectory(atPath: folder.path("new"), withIntermediateDirectories: false)
            } else {
                try folder.write([2], to: "new")
            }
        }
        try make()
        try folder.write([1], to: "taken")
        #expect(
            FreeName.renameOverPlaceholder(folder.path("new"), to: folder.path("taken"), isFolder: isFolder) == EEXIST)
        #expect(FreeName.renameOverPlaceholder(folder.path("new"), to: folder.path("free"), isFolder: isFolder) == 0)
        #expect(try folder.names == ["free", "taken"])
        #expect(try folder.read("taken") == [1])
        #expect(
            FreeName.renameOverPlaceholder(folder.path("gone"), to: folder.path("more"), isFolder: isFolder) == ENOENT)
        #expect(try folder.names == ["free", "taken"])
    }

    @Test("in a missing or read-only folder is an error with the folder's name")
    func folders() throws {
        let folder = try TemporaryFolder()
        let name = FileName(title: "Page", fileExtension: nil)
        #expect(throws: PromiseError.missingFolder(path: folder.path("no/"))) {
            try Delivery.deliver(
                .data(.inline([1])), to: .folder(path: folder.path("no"), name: name), token: 1)
        }
        let file = try folder.write([1], to: "file")
        #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: file + "/", code: ENOTDIR)) {
            try Delivery.deliver(.data(.inline([1])), to: .folder(path: file, name: name), token: 1)
        }
        // No user, not even root, can create files there.
        #expect(throws: PromiseError.self) {
            try Delivery.deliver(.data(.inline([1])), to: .folder(path: "/proc", name: name), token: 1)
        }
    }
}
