// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import JournalNotes

@Suite("Settings")
struct JournalSettingsTests {
    let home = TemporaryFolder()
    let file = ".config/com.searchlight.journal/folders"

    private func settings(_ more: [String: String] = [:]) throws -> JournalSettings {
        try JournalSettings(environment: ["HOME": home.path].merging(more) { $1 })
    }

    @Test func withoutSettingsItIsTheDocumentsFolder() throws {
        #expect(try settings().folders == [])
        try home.write("x", to: "Documents/a.md")
        #expect(try settings().folders == [home["Documents"]])
        #expect(try settings().problems == [])
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
        #expect(try settings().folders == [])
        try home.write("XDG_DOCUMENTS_DIR=\"../relative\"\nXDG_DOCUMENTS_DIR=\"\n", to: ".config/user-dirs.dirs")
        #expect(try settings().folders == [home["Documents"]])
    }

    @Test func foldersAreListed() throws {
        try home.write("x", to: "Documents/a.md")
        try home.write("x", to: "n/b/a.md")
        try home.write("# mine\n\n ~/n \n\(home.path)//n/./b/\n~/n/\n", to: file)
        #expect(try settings().folders == [home["n"], home["n/b"]])
        #expect(try settings().problems == [])
    }

    @Test func emptySettingsMeanNoFolders() throws {
        try home.write("x", to: "Documents/a.md")
        try home.write("# none\n", to: file)
        #expect(try settings().folders == [])
    }

    @Test func whatIsWrongIsReportedAndSkipped() throws {
        try home.write("x", to: "n/a.md")
        try home.write("~/gone\nrelative\n/\n~/../n\n~/n/a.md\n~/n\n", to: file)
        let found = try settings()
        #expect(found.folders == [home["n"]])
        #expect(
            found.problems == [
                "skipped \(home["gone"]): no such folder",
                "\(home[file]), line 2: relative is not an absolute path below / without ..",
                "\(home[file]), line 3: / is not an absolute path below / without ..",
                "\(home[file]), line 4: ~/../n is not an absolute path below / without ..",
                "skipped \(home["n/a.md"]): not a folder but a regular file",
            ])
    }

    @Test func configurationElsewhereIsRead() throws {
        try home.write("~/n", to: "etc/com.searchlight.journal/folders")
        try home.write("x", to: "n/a.md")
        #expect(try settings(["XDG_CONFIG_HOME": home["etc"]]).folders == [home["n"]])
    }

    /// Otherwise a fault of the settings would empty the index.
    @Test func unreadableSettingsAreAnError() throws {
        try home.write(Data([0xFF]), to: file)
        #expect(throws: Skip(path: home[file], reason: .notUTF8Text(offset: 0))) { try settings() }
        try home.write(String(repeating: "#", count: 65_537), to: file)
        #expect(throws: Skip(path: home[file], reason: .tooLarge(size: 65_537, limit: 65_536))) { try settings() }
        try FileManager.default.removeItem(atPath: home[file])
        try home.link(file, to: "folders")
        #expect(throws: Skip(path: home[file], reason: .symbolicLinkLoop)) { try settings() }
    }
}
