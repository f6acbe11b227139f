// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Walking folders")
struct NoteWalkTests {
    let folder = TemporaryFolder()

    @Test func emptyFolderHasNoNotes() { #expect(folder.walk() == []) }

    @Test func notesComeInTheOrderOfTheirNames() throws {
        for name in ["b.md", "a/z.txt", "a.md", "Z.md", "é.md", "a/b/c.md", "README", "c.png", "x.md.gz", "d"] {
            try folder.write("x", to: name)
        }
        #expect(
            folder.walk() == [
                "note README", "note Z.md", "note a/b/c.md", "note a/z.txt", "note a.md", "note b.md", "note é.md",
            ])
    }

    @Test func hiddenEntriesPassSilently() throws {
        for name in [".a.md", ".git/b.md", "c/.d.md"] { try folder.write("x", to: name) }
        #expect(folder.walk() == [])
    }

    @Test func eachNameOfAFileIsANote() throws {
        try folder.write("x", to: "b.md")
        try FileManager.default.linkItem(atPath: folder["b.md"], toPath: folder["c.md"])
        try folder.link("a.md", to: "b.md")
        try folder.link("d.md", to: "a.md")
        #expect(folder.walk() == ["note a.md", "note b.md", "note c.md", "note d.md"])
    }

    @Test func foldersWithinOneAnotherAreTakenOnce() throws {
        try folder.write("x", to: "inner/a.md")
        try folder.write("x", to: "b.md")
        let steps = folder.walk(folders: [folder["inner"], folder.path])
        #expect(steps == ["note inner/a.md", "note b.md"])
        let other = folder.walk(folders: [folder.path, folder["inner"], folder.path])
        #expect(other == ["note b.md", "note inner/a.md"])
    }

    @Test func linkToAFileElsewhereIsFollowedAndHasTheNameOfTheLink() throws {
        let elsewhere = TemporaryFolder()
        try elsewhere.write("far", to: "secret.dat")
        try folder.link("near.md", to: elsewhere["secret.dat"])
        #expect(folder.walk() == ["note near.md"])
    }

    @Test func linkedDirectoriesAreNotEntered() throws {
        let elsewhere = TemporaryFolder()
        try elsewhere.write("x", to: "a.md")
        try folder.write("x", to: "own/b.md")
        try folder.link("linked", to: elsewhere.path)
        try folder.link("own/up", to: "..")
        try folder.link("dir.md", to: elsewhere.path)
        let reason = "a link to the folder \(elsewhere.path); write that path into the settings to index it"
        #expect(folder.walk() == ["skip dir.md: \(reason)", "skip linked: \(reason)", "note own/b.md"])
    }

    @Test func configuredFolderMayBeALink() throws {
        try folder.write("x", to: "real/a.md")
        try folder.link("link", to: "real")
        #expect(folder.walk(folders: [folder["link"]]) == ["note link/a.md"])
    }

    @Test func symbolicLinkLoopIsSkipped() throws {
        try folder.link("a.md", to: "b.md")
        try folder.link("b.md", to: "a.md")
        #expect(folder.walk() == ["skip a.md: symbolic link loop", "skip b.md: symbolic link loop"])
    }

    @Test func linkThatLeadsNowhereIsSkipped() throws {
        try folder.link("a.md", to: "nothing")
        #expect(folder.walk() == ["skip a.md: link to nothing"])
    }

    /// A test opener, since permissions do not restrict the superuser, who may run the tests.
    private func opener(refusing refused: String, with reason: SkipReason) -> FileOpener {
        FileOpener { (directory, name, flags) throws(SkipReason) in
            if name == refused { throw reason }
            return try FileOpener.system.open(directory, name, flags)
        }
    }

    @Test func unreadableFileIsSkipped() throws {
        try folder.write("x", to: "a.md")
        try folder.write("x", to: "b.md")
        let steps = folder.walk(opener: opener(refusing: "a.md", with: SkipReason(errno: EACCES)))
        #expect(steps == ["skip a.md: no permission to read it", "note b.md"])
    }

    @Test func unreadableDirectoryIsSkipped() throws {
        try folder.write("x", to: "a/b.md")
        try folder.write("x", to: "c.md")
        let steps = folder.walk(opener: opener(refusing: "a", with: SkipReason(errno: EACCES)))
        #expect(steps == ["skip a: no permission to read it", "note c.md"])
    }

    @Test func fileThatVanishesBeforeItIsOpenedIsSkipped() throws {
        try folder.write("x", to: "a.md")
        let path = folder["a.md"]
        let opener = FileOpener { (directory, name, flags) throws(SkipReason) in
            if name == "a.md" { unlink(path) }
            return try FileOpener.system.open(directory, name, flags)
        }
        #expect(folder.walk(opener: opener) == ["skip a.md: vanished"])
    }

    /// Another file can replace a checked file before it is opened.
    @Test func fileThatBecomesALinkBeforeItIsOpenedIsNotFollowed() throws {
        try folder.write("x", to: "a.md")
        let path = folder["a.md"]
        let opener = FileOpener { (directory, name, flags) throws(SkipReason) in
            if name == "a.md" {
                unlink(path)
                symlink("/etc/passwd", path)
            }
            return try FileOpener.system.open(directory, name, flags)
        }
        #expect(folder.walk(opener: opener) == ["skip a.md: symbolic link loop"])
    }

    @Test func folderThatDoesNotExistIsSkipped() {
        #expect(folder.walk(folders: [folder["none"]]) == ["skip none: vanished"])
    }

    @Test func noFileIsSkippedForItsBytes() throws {
        try folder.write(Data([0x61, 0x62, 0xFF, 0x63]), to: "a.md")
        try folder.write(Data([0xEF, 0xBB, 0xBF, 0x61, 0xC3]), to: "b.md")
        try folder.write(Data([0x61, 0x00]), to: "c.txt")
        try folder.write(Data([0xFF, 0xFE, 0x61, 0x00]), to: "utf16.txt")
        #expect(folder.walk() == ["note a.md", "note b.md", "note c.txt", "note utf16.txt"])
    }

    @Test func ofAFileOverTheLimitTheBeginningIsRead() throws {
        try folder.write(Data(repeating: UInt8(ascii: "a"), count: (16 << 20) + 5), to: "a.txt")
        let file = try #require(try NoteFile(contentsOf: folder["a.txt"]))
        #expect(file.text.utf8.count == 16 << 20 && file.missing == 5 && file.isCut)
    }

    @Test func fileAtTheLimitIsRead() throws {
        try folder.write(Data(repeating: UInt8(ascii: "a"), count: 16 << 20), to: "a.txt")
        #expect(folder.walk() == ["note a.txt"])
    }

    @Test func pipesAndSocketsAreSkippedWithoutWaiting() throws {
        #expect(mkfifo(folder["a.md"], 0o600) == 0)
        #expect(mknod(folder["b.md"], S_IFSOCK | 0o600, 0) == 0)
        try folder.link("c.md", to: "/dev/null")
        #expect(
            folder.walk() == [
                "skip a.md: not a regular file but a named pipe", "skip b.md: not a regular file but a socket",
                "skip c.md: not a regular file but a character device",
            ])
    }

    @Test func nameThatIsNotUTF8IsSkipped() throws {
        let name = folder.path.utf8.map { CChar(bitPattern: $0) } + [0x2F, 0x78, -1, 0x2E, 0x6D, 0x64, 0]
        let descriptor = creat(name, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        #expect(folder.walk() == ["skip x\u{FFFD}.md: its name is not UTF-8"])
    }

    @Test func depthIsBounded() throws {
        var limits = WalkLimits()
        limits.depth = 2
        for name in ["a.md", "1/a.md", "1/2/a.md", "1/2/3/a.md"] { try folder.write("x", to: name) }
        #expect(
            folder.walk(limits: limits) == [
                "skip 1/2/3: more than 2 folders deep", "note 1/2/a.md", "note 1/a.md", "note a.md",
            ])
    }

    @Test func numberOfEntriesIsBounded() throws {
        var limits = WalkLimits()
        limits.entries = 3
        for name in 0..<5 { try folder.write("x", to: "\(name).md") }
        let steps = folder.walk(limits: limits)
        #expect(steps.first == "skip : more than 3 directory entries, the rest was not walked")
        #expect(steps.count == 4)
    }

    /// The walk reports every entry, even a file that is not a note, so that the caller can send
    /// progress. It reports all entries of a directory before it yields the first entry.
    @Test func everyEntryIsVisited() throws {
        for name in ["a.png", ".hidden", "b/c.png", "d.md"] { try folder.write("x", to: name) }
        var visited: [String: Int] = [:]
        let walk = NoteFolders(paths: [folder.path]).walk(visiting: { visited[$0, default: 0] += 1 })
        #expect(walk.reduce(0) { count, _ in count + 1 } == 1)
        // Four when the folder is listed and three when its visible entries are visited; one and
        // one for the subfolder.
        #expect(visited == [folder.path: 7, folder["b"]: 2])
    }

    @Test func namesCannotForgeLinesOfTheLog() {
        let skip = Skip(path: "/a\nskipped /b\u{2028}\u{1B}[2J", reason: .vanished)
        #expect(skip.description == "skipped /a\\nskipped /b\\u{2028}\\u{1B}[2J: vanished")
    }

    /// Works with any folder, and even if the file no longer exists.
    @Test func walkContinuesAfterAnyFile() throws {
        for name in ["a/b/c.md", "a/b.md", "a.b/d.md", "a/z.md", "c.md", "b/x.md", "nested/inner/y.md", "nested/z.md"] {
            try folder.write("x", to: name)
        }
        let folders = NoteFolders(paths: [folder["nested/inner"], folder.path])
        func files(_ walk: NoteWalk) -> [String] {
            walk.compactMap { step in if case .file(let file) = step { file.path } else { nil } }
        }
        let all = files(folders.walk())
        #expect(all.count == 8 && all.first == folder["nested/inner/y.md"])
        for (index, path) in all.enumerated() {
            #expect(files(folders.walk(after: path)) == Array(all[(index + 1)...]), "\(path)")
        }
        try FileManager.default.removeItem(atPath: folder["a/b"])
        #expect(files(folders.walk(after: folder["a/b/c.md"])) == Array(all[2...]))
        #expect(files(folders.walk(after: "/elsewhere/a.md")) == all.filter { $0 != folder["a/b/c.md"] })
    }
}
