// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Notes by identifier")
struct NoteFoldersTests {
    let folder = TemporaryFolder()

    private func lookUp(_ identifier: String) -> Result<NoteFile, FileLookupError> {
        let folders = NoteFolders(paths: [folder["notes"]])
        return Result { () throws(FileLookupError) in try folders.file(withIdentifier: identifier) }
    }

    private func reason(_ identifier: String) -> FileLookupError? {
        if case .failure(let error) = lookUp(identifier) { return error }
        return nil
    }

    @Test func noteIsFoundAsTheWalkYieldsIt() throws {
        try folder.write("hello", to: "notes/a/b.c/d.md")
        guard case .file(let walked)? = NoteFolders(paths: [folder["notes"]]).walk().first(where: { _ in true }) else {
            Issue.record("nothing walked")
            return
        }
        let found = try lookUp(folder["notes/a/b.c/d.md"]).get()
        #expect(Note(found) == Note(walked))
        #expect(Note(found).domain == "a.b_c")
        #expect(found.text == "hello")
    }

    @Test func pathsOutsideAreRefused() throws {
        try folder.write("x", to: "secret.md")
        try folder.write("x", to: "notes-too/a.md")
        try folder.write("x", to: "notes/.hidden/a.md")
        try folder.write("x", to: "notes/a.md")
        let deep = String(repeating: "/d", count: 65)
        let hostile = [
            "", "/", "a.md", folder["notes"], folder["notes/"], folder["secret.md"], folder["notes-too/a.md"],
            folder["notes/../secret.md"], folder["notes/./a.md"], folder["notes//a.md"], folder["notes/a.md/"],
            folder["notes/.hidden/a.md"], folder["notes/a.md\u{0}"], folder["notes\(deep)/a.md"],
            folder["notes/" + String(repeating: "a", count: 5000) + ".md"],
        ]
        for identifier in hostile {
            #expect(reason(identifier) == .outsideFolders(identifier), "\(identifier.prefix(80))")
        }
    }

    @Test func filesThatAreNoNotesAreRefused() throws {
        try folder.write("x", to: "notes/a.png")
        #expect(reason(folder["notes/a.png"]) == .otherName(folder["notes/a.png"]))
    }

    @Test func linkedDirectoriesAreNotPassed() throws {
        try folder.write("x", to: "elsewhere/a.md")
        try folder.write("x", to: "notes/b.md")
        try folder.link("notes/link", to: folder["elsewhere"])
        let identifier = folder["notes/link/a.md"]
        #expect(reason(identifier) == .skipped(Skip(path: identifier, reason: .vanished)))
    }

    @Test func deletedNoteIsGone() throws {
        try folder.write("x", to: "notes/b.md")
        #expect(reason(folder["notes/a.md"])?.isGone == true)
        #expect(reason(folder["notes/none/a.md"])?.isGone == true)
    }

    @Test func noteThatIsGoneIsSaidToBe() throws {
        try folder.write("x", to: "notes/b.md")
        try folder.link("notes/link.md", to: folder["nothing"])
        for name in ["notes/a.md", "notes/none/a.md", "notes/link.md"] {
            #expect(reason(folder[name])?.description == "\(folder[name]) is gone")
        }
    }

    @Test(arguments: [true, false])
    func notesOfFoldersThatAreMissingAreKept(_ isComplete: Bool) throws {
        try folder.write("x", to: "notes/b.md")
        // One of them existed when the settings were read.
        let folders = NoteFolders(paths: [folder["notes"], folder["lost"]], unavailable: [folder["notes/disk"]])
        func state(_ name: String) throws -> String {
            switch try folders.state(ofIdentifier: folder[name], isComplete: isComplete) {
            case .file: "note"
            case .gone(let complaint): "gone" + (complaint.map { _ in ", complaint" } ?? "")
            case .kept(let complaint): complaint
            }
        }
        #expect(try state("notes/b.md") == "note")
        #expect(try state("notes/a.md") == "gone")
        #expect(try state("notes/b.png") == "gone, complaint")
        for (name, missing) in [("notes/disk/a.md", "notes/disk"), ("lost/a.md", "lost")] {
            #expect(
                try state(name)
                    == "\(folder[name]) is not reachable, because the folder \(folder[missing]) is missing or unreadable;"
                    + " it is kept")
        }
        #expect(
            try state("elsewhere/a.md")
                == (isComplete
                    ? "gone, complaint"
                    : "\(folder["elsewhere/a.md"]) is not in a folder of the settings; it is kept"))
    }

    @Test func pipeIsNotOpened() throws {
        try folder.write("x", to: "notes/b.md")
        #expect(mkfifo(folder["notes/a.md"], 0o600) == 0)
        let identifier = folder["notes/a.md"]
        #expect(reason(identifier) == .skipped(Skip(path: identifier, reason: .notRegularFile(.fifo))))
    }

    @Test func transientErrorsAreToldFromMissingNotes() throws {
        let opener = FileOpener { (_, _, _) throws(SkipReason) in throw SkipReason(errno: EMFILE) }
        let folders = NoteFolders(paths: [folder.path], opener: opener)
        let error = #expect(throws: FileLookupError.self) { try folders.file(withIdentifier: folder["a.md"]) }
        #expect(error?.mayPass == true)
        #expect(error?.isGone == false)
    }

    @Test func kindIsToldWithoutReading() throws {
        try folder.write(Data([0xFF]), to: "notes/a.md")
        let folders = NoteFolders(paths: [folder["notes"]])
        #expect(try folders.kind(ofIdentifier: folder["notes/a.md"]) == .markdown)
        #expect(throws: FileLookupError.self) { try folders.kind(ofIdentifier: folder["notes/b.md"]) }
    }
}
