// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Settings")
struct JournalSettingsTests {
    let home = TemporaryFolder()
    let file = ".config/com.searchlight.journal/folders"

    private func settings(_ more: [String: String] = [:]) throws -> JournalSettings {
        try JournalSettings(environment: ["HOME": home.path].merging(more) { $1 })
    }

    @Test func withoutSettingsItIsTheDocumentsFolder() throws {
        let without = try settings()
        #expect(without.folders == [])
        #expect(
            without.absence
                == "no folder to index: \(home["Documents"]) does not exist; write paths into \(home[file])")
        // The folder may be on a disk that is not mounted.
        #expect(!without.isComplete)
        try home.write("x", to: "Documents/a.md")
        let found = try settings()
        #expect(found.folders == [home["Documents"]])
        #expect(found.problems == [])
        #expect(found.isComplete && found.absence == nil)
    }

    @Test func documentsFolderOfTheDesktopIsHonoured() throws {
        try home.write("x", to: "Documents/a.md")
        try home.write("x", to: "Dokumente/a.md")
        try home.write(
            "# comment\nXDG_MUSIC_DIR=\"$HOME/Music\"\nXDG_DOCUMENTS_DIR=\"$HOME/Dokumente\"\n",
            to: ".config/user-dirs.dirs")
        #expect(try settings().folders == [home["Dokumente"]])
        try home.write("XDG_DOCUMENTS_DIR=\"\(home["Documents"])/\"\n", to: ".config/user-dirs.dirs")
        #expect(try settings().folders == [home["Documents"]])
        try home.write("XDG_DOCUMENTS_DIR=\"$HOME/\"\n", to: ".config/user-dirs.dirs")
        let disabled = try settings()
        #expect(disabled.folders == [] && !disabled.isComplete)
        #expect(
            disabled.absence
                == "no folder to index: \(home[".config/user-dirs.dirs"]) disables it; write paths into \(home[file])")
        try home.write("XDG_DOCUMENTS_DIR=\"../relative\"\nXDG_DOCUMENTS_DIR=\"\n", to: ".config/user-dirs.dirs")
        #expect(try settings().folders == [home["Documents"]])
    }

    @Test func foldersAreListed() throws {
        try home.write("x", to: "Documents/a.md")
        try home.write("x", to: "n/b/a.md")
        try home.write("# mine\n\n ~/n \n\(home.path)//n/./b/\n~/n/\n", to: file)
        let found = try settings()
        #expect(found.folders == [home["n"], home["n/b"]])
        #expect(found.problems == [])
        #expect(found.isComplete && found.absence == nil)
    }

    @Test func emptySettingsMeanNoFolders() throws {
        try home.write("x", to: "Documents/a.md")
        try home.write("# none\n", to: file)
        let found = try settings()
        #expect(found.folders == [])
        #expect(found.absence == "no folder to index: \(home[file]) names none; write paths into it")
        // The list is empty on purpose, so nothing is missing.
        #expect(found.isComplete)
    }

    @Test func whatIsWrongIsReportedAndSkipped() throws {
        try home.write("x", to: "n/a.md")
        try home.write("~/gone\nrelative\n/\n~/../n\n~/n/a.md\n~/n\n", to: file)
        let found = try settings()
        #expect(found.folders == [home["n"]])
        #expect(found.unavailable == [home["gone"], home["n/a.md"]])
        #expect(!found.isComplete && found.absence == nil)
        let malformed = "is not an absolute path below / without ..; until it is repaired no note is deleted"
        #expect(
            found.problems == [
                "folder \(home["gone"]) is missing; its notes are kept",
                "\(home[file]), line 2: “relative” \(malformed)",
                "\(home[file]), line 3: “/” \(malformed)",
                "\(home[file]), line 4: “~/../n” \(malformed)",
                "folder \(home["n/a.md"]) is not a folder but a regular file; its notes are kept",
            ])
    }

    /// With a test opener, since permissions do not restrict the superuser, who may run the tests.
    @Test func folderThatCannotBeReadIsNotTakenForEmpty() throws {
        let opener = FileOpener { (_, _, _) throws(SkipReason) in throw SkipReason(errno: EACCES) }
        try home.write("x", to: "Documents/a.md")
        for isListed in [false, true] {
            if isListed { try home.write("~/Documents", to: file) }
            let found = try JournalSettings(environment: ["HOME": home.path], opener: opener)
            #expect(found.folders == [] && found.unavailable == [home["Documents"]])
            #expect(!found.isComplete && found.absence == nil)
            #expect(
                found.problems == [
                    "folder \(home["Documents"]) cannot be read (no permission to read it); its notes are kept"
                ])
        }
    }

    @Test func foldersBehindLinksAreTakenAndDanglingOnesAreMissing() throws {
        try home.write("x", to: "n/a.md")
        try home.write("~/link\n~/dangling\n", to: file)
        try home.link("link", to: home["n"])
        try home.link("dangling", to: home["disk/notes"])
        let found = try settings()
        #expect(found.folders == [home["link"]] && found.unavailable == [home["dangling"]])
    }

    @Test func configurationElsewhereIsRead() throws {
        try home.write("~/n", to: "etc/com.searchlight.journal/folders")
        try home.write("x", to: "n/a.md")
        #expect(try settings(["XDG_CONFIG_HOME": home["etc"]]).folders == [home["n"]])
    }

    /// Otherwise a fault in the settings would empty the index.
    @Test func unreadableSettingsAreAnError() throws {
        try home.write(Data([0xFF]), to: file)
        #expect(throws: Skip(path: home[file], reason: .notUTF8Text(offset: 0))) { try settings() }
        try home.write(String(repeating: "#", count: 65_537), to: file)
        #expect(throws: Skip(path: home[file], reason: .tooLarge(size: 65_537, limit: 65_536))) { try settings() }
        try FileManager.default.removeItem(atPath: home[file])
        try home.link(file, to: "folders")
        #expect(throws: Skip(path: home[file], reason: .symbolicLinkLoop)) { try settings() }
        try FileManager.default.removeItem(atPath: home[file])
        try home.link(file, to: home["disk/folders"])
        #expect(throws: Skip(path: home[file], reason: .danglingLink)) { try settings() }
    }
}
