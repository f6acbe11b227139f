// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import MailMessages

@Suite("Mail folders")
struct FolderTests {
    private let mail: SampleMail

    init() throws { mail = try SampleMail() }

    private func settings(_ lines: String = "") throws -> MailSettings {
        if !lines.isEmpty { try mail.write(lines, ".config/com.searchlight.mail/folders") }
        return try MailSettings(environment: ["HOME": mail.path])
    }

    private func found(_ settings: MailSettings) -> [String] {
        MailFolders(settings) { _ in }.folders.map {
            "\($0.path.dropFirst(mail.path.count + 1)) \($0.name) \($0.account) \($0.role)"
        }
    }

    @Test func maildirsAndTheirSubfolders() throws {
        for name in [
            "Maildir", "Maildir/.Sent", "Maildir/.Archive.2024", "Maildir/.Trash", "Maildir/.Junk", "Mail/work",
            "Mail/work/lists",
        ] {
            try mail.makeMaildir(name)
        }
        try mail.makeMaildir("Mail/&AMQ-rger")
        let settings = try settings()
        #expect(
            found(settings) == [
                "Mail/&AMQ-rger Ärger Mail other", "Mail/work work Mail other", "Mail/work/lists work/lists Mail other",
                "Maildir Maildir Maildir inbox", "Maildir/.Archive.2024 Archive/2024 Maildir other",
                "Maildir/.Sent Sent Maildir sent",
            ])
        let leftOut = MailFolders(settings) { _ in }.leftOut.map {
            "\($0.path.dropFirst(mail.path.count + 1)): \($0.reason)"
        }
        #expect(leftOut.sorted() == ["Maildir/.Junk: spam", "Maildir/.Trash: in the trash"])
        #expect(MailFolders.folder(at: mail.path + "/Maildir/.Sent", settings)?.role == .sent)
        #expect(MailFolders.folder(at: mail.path + "/Maildir/.Trash", settings) == nil)
        #expect(MailFolders.folder(at: mail.path + "/elsewhere", settings) == nil)
    }

    @Test func mailboxesBesideTheMessagesOfAMaildirAreRead() throws {
        try mail.makeMaildir("Mail")
        try mail.write("From - Tue Nov 24 10:11:12 2026\nFrom: a@b\n\nx\n", "Mail/old.mbox")
        try mail.write("3 V1700000000 N5\n", "Mail/dovecot-uidlist")
        let found = try found(settings()).map { $0.split(separator: " ")[0] }
        #expect(found == ["Mail", "Mail/old.mbox"])
    }

    @Test func settingsAddExcludeAndIncludeFolders() throws {
        for name in ["Maildir", "Maildir/.Trash", "Maildir/.News", "Mail/old/a", "backup/box"] {
            try mail.makeMaildir(name)
        }
        let settings = try settings("# mine\n~/backup\n/nowhere/../x\n!News*\n!~/Mail/old\n+trash\n~/missing\n")
        #expect(
            found(settings) == [
                "Maildir Maildir Maildir inbox", "Maildir/.Trash Trash Maildir trash", "backup/box box backup other",
            ])
        #expect(settings.problems.count == 1 && settings.problems[0].contains("line 3"))
        let leftOut = MailFolders(settings) { _ in }.leftOut.map {
            "\($0.path.dropFirst(mail.path.count + 1)): \($0.reason)"
        }
        #expect(leftOut.contains("Mail/old/a: excluded in the settings") && leftOut.contains("missing: not there"))
    }

    @Test func thunderbirdsFoldersAreReadWhenTheSettingsNameThem() throws {
        try mail.write(
            "[Profile0]\nName=default\nIsRelative=1\nPath=abc.default\n[Profile1]\nIsRelative=0\nPath=/gone\n",
            ".thunderbird/profiles.ini")
        let message = "From - Tue Nov 24 10:11:12 2026\nFrom: a@b\n\nx\n"
        for name in [
            "Mail/Local Folders/Inbox", "Mail/Local Folders/Inbox.sbd/Boats", "ImapMail/imap.example.org/INBOX",
            "ImapMail/imap.example.org/Trash",
        ] {
            try mail.write(message, ".thunderbird/abc.default/" + name)
            try mail.write("// mork", ".thunderbird/abc.default/" + name + ".msf")
        }
        try mail.write(message, ".thunderbird/abc.default/other/Inbox")
        let unnamed = try settings()
        #expect(found(unnamed) == [])
        #expect(MailFolders(unnamed) { _ in }.leftOut.map(\.path) == [mail.path + "/.thunderbird"])
        let named = try settings("~/.thunderbird")
        #expect(
            found(named) == [
                ".thunderbird/abc.default/ImapMail/imap.example.org/INBOX INBOX imap.example.org inbox",
                ".thunderbird/abc.default/Mail/Local Folders/Inbox Inbox Local Folders inbox",
                ".thunderbird/abc.default/Mail/Local Folders/Inbox.sbd/Boats Inbox/Boats Local Folders other",
            ])
        let box = mail.path + "/.thunderbird/abc.default/Mail/Local Folders/Inbox"
        #expect(MailFolders.folder(at: box, named)?.account == "Local Folders")
        #expect(MailFolders.mayBeMailbox(box, named) && !MailFolders.mayBeMailbox(box + ".msf", named))
        #expect(!MailFolders.mayBeMailbox(mail.path + "/.thunderbird/abc.default/other/Inbox", named))
    }

    @Test func foldersWhoseNamesAreOtherBytesAreOtherFolders() throws {
        for name in ["Mail/caf\u{E9}", "Mail/cafe\u{301}", "Mail/\u{301}"] { try mail.makeMaildir(name) }
        let names = try MailFolders(settings()) { _ in }.folders.map { Array($0.name.utf8) }
        #expect(Set(names) == Set(["caf\u{E9}", "cafe\u{301}", "\u{301}"].map { Array($0.utf8) }))
    }

    @Test func theSearchForFoldersShowsProgress() throws {
        try mail.makeMaildir("Mail/work")
        try mail.write("no mailbox", "Mail/file")
        var visited: [String] = []
        _ = try MailFolders(settings()) { visited.append(String($0.dropFirst(mail.path.count))) }
        #expect(visited == ["/Mail", "/Mail/file", "/Mail/work"])
    }

    @Test func filesOfTheYear2300AreRead() throws {
        try mail.write("x", "late")
        var times = Array(repeating: timespec(tv_sec: 10_000_000_000, tv_nsec: 1), count: 2)
        #expect(utimensat(AT_FDCWD, mail.path + "/late", &times, 0) == 0)
        #expect(try OpenFile(mail.path + "/late").size == 1)
    }

    @Test func settingsThatCannotBeReadAreAnError() throws {
        try mail.write(String(repeating: "#", count: 70_000), ".config/com.searchlight.mail/folders")
        #expect(throws: MailSettingsError.self) { try settings() }
    }

    @Test func identifiersAreReadAsTheyAreWritten() {
        for (message, unique) in [
            ("a@b", nil), ("file:x//y@b", nil), ("id:a//b", "1.M2.host"), ("a/b", "1"), ("é@ü", "x"),
            ("\u{301}a@b", nil),
            ("\u{301}a@b", "1"), ("a@b", "\u{301}"),
        ] {
            let identifier = MessageIdentifier(folder: "/home/ada/Mail dir/é", message: message, unique: unique)
            #expect(MessageIdentifier(identifier.text) == identifier)
        }
        #expect(
            MessageIdentifier(folder: "/e\u{301}", message: "a", unique: nil)
                != MessageIdentifier(folder: "/\u{E9}", message: "a", unique: nil))
        for text in [
            "", "/", "//", "a//id:x", "/a//id:", "/a//file:x", "/a//file://y", "/a/../b//id:x", "/a//x:y", "/a",
        ] {
            #expect(MessageIdentifier(text) == nil, "\(text)")
        }
        #expect(
            !MessageIdentifier(folder: "/a", message: String(repeating: "x", count: 5000), unique: nil).isAcceptable)
    }

    @Test func pathsOfMaildirFiles() {
        let split = MaildirFile.split("/home/ada/Maildir/cur/1.2.host:2,S")
        #expect(
            split?.folder == "/home/ada/Maildir" && split?.file.unique == "1.2.host" && split?.file.flags == [.read])
        let combining = MaildirFile.split("/home/ada/Maildir/cur/\u{301}1:2,S")
        #expect(combining?.folder == "/home/ada/Maildir" && combining?.file.name == "\u{301}1:2,S")
        #expect(MaildirFile.split("/home/ada/Maildir/tmp/1") == nil && MaildirFile.split("/cur/1") == nil)
        #expect(MaildirFile.split("/home/ada/Maildir/cur/.hidden") == nil)
    }
}

@Suite("mbox")
struct MboxTests {
    private let mail: SampleMail
    private let from = "From ada@example.org Tue Nov 24 10:11:12 2026\n"

    init() throws { mail = try SampleMail() }

    private func entries(_ text: String, from offset: Int64 = 0) throws -> [String] {
        try mail.write(text, "box")
        let file = try OpenFile(mail.path + "/box")
        var reader = MboxReader(file, from: offset)
        var contents: [String] = []
        while let entry = try reader.next() {
            contents.append(String(decoding: try reader.content(of: entry), as: UTF8.self))
        }
        return contents
    }

    @Test func messagesBeginWithAFromLine() throws {
        #expect(try entries("\(from)A: 1\n\none\n\n\(from)A: 2\n\ntwo\n") == ["A: 1\n\none\n\n", "A: 2\n\ntwo\n"])
        #expect(try entries("") == [] && entries("A: 1\n\nx") == [])
        #expect(try entries("From") == [])
        #expect(try entries("From \nA: 1\n\nx\n\nFrom \nA: 2\n\ny") == ["A: 1\n\nx\n\n", "A: 2\n\ny"])
        let windows = "From - Tue Nov 24 10:11:12 2026\r\nA: 1\r\n\r\nx\r\n\r\nFrom \r\nA: 2\r\n\r\ny"
        #expect(try entries(windows) == ["A: 1\r\n\r\nx\r\n\r\n", "A: 2\r\n\r\ny"])
    }

    @Test func fromLinesInBodiesAreText() throws {
        let body = "A: 1\n\nFrom here on\nA: b\n\nFrom\n\nFrom 10:30 to noon we rest.\nThen we go.\n\nFrom \nnothing\n"
        #expect(try entries(from + body) == [body])
    }

    @Test func messagesMayCrossTheBuffer() throws {
        let long = "A: 1\n\n" + String(repeating: String(repeating: "x", count: 79) + "\n", count: 40_000)
        // The next line starts at each position around the edge of the 1 MiB buffer.
        for length in [1 << 20, 3_000_000] {
            for shift in 0..<8 {
                let first = "A: 1\n\n" + String(repeating: "x", count: length - 60 + shift) + "\n"
                let contents = try entries(from + first + from + "A: 2\n\ny\n" + from + long)
                #expect(contents.map(\.utf8.count) == [first.utf8.count, 8, long.utf8.count])
            }
        }
    }

    @Test func whatWasAppendedIsRecognized() throws {
        let first = "\(from)Message-ID: <1@x>\n\none\n\n\(from)Message-ID: <2@x>\n\ntwo\n\n"
        try mail.write(first, "box")
        let path = mail.path + "/box"
        let file = try OpenFile(path)
        let whole = try MboxComparison(file, from: 0, known: ["0@x", "1@x"]) {}
        #expect(whole.fresh.map(\.message) == ["2@x"] && whole.gone == ["0@x"])
        let state = try #require(MboxState(MboxState(file, last: whole.last).text))
        #expect(state.isSame(file))
        try mail.write(first + "\(from)Message-ID: <3@x>\n\nthree\n", "box")
        let longer = try OpenFile(path)
        #expect(!state.isSame(longer) && state.isContinued(longer))
        // The last message is read again, since it may have been incomplete.
        #expect(try MboxComparison(longer, from: state.last, known: []) {}.fresh.map(\.message) == ["2@x", "3@x"])
        try mail.write("\(from)Message-ID: <9@x>\n\n" + first, "box")
        #expect(!state.isContinued(try OpenFile(path)))
        #expect(MboxState("2 1 1 1 1") == nil && MboxState("") == nil && MboxState("1 a b c d") == nil)
    }

    @Test func messagesMarkedAsDeletedAreGone() throws {
        try mail.write("\(from)X-Mozilla-Status: 0008\nMessage-ID: <1@x>\n\n\n\(from)Message-ID: <2@x>\n\n", "box")
        let comparison = try MboxComparison(OpenFile(mail.path + "/box"), from: 0, known: ["1@x", "2@x"]) {}
        #expect(comparison.fresh == [] && comparison.gone == ["1@x"])
    }

    @Test func messagesOfAFolderAreFoundInOnePass() throws {
        func message(_ number: Int) -> String { "Message-ID: <\(number)@x>\n\n\(number)\n\n" }
        try mail.write((0..<30).map { from + message($0) }.joined() + from + message(7), "Mail/box")
        try mail.makeMaildir("Mail/dir")
        for number in 0..<30 { try mail.write(message(number), "Mail/dir/cur/\(number).host:2,FRS") }
        let settings = try MailSettings(environment: ["HOME": mail.path])
        for (name, unique) in [("box", false), ("dir", true)] {
            let folder = try #require(MailFolders.folder(at: mail.path + "/Mail/" + name, settings))
            let wanted = (0..<40).map { number in
                MessageIdentifier(
                    folder: folder.path, message: "\(number)@x", unique: unique ? "\(number).host" : nil)
            }
            var visits = 0
            var found: [String: Int64] = [:]
            try LocatedMessage.find(wanted, in: folder, visiting: { visits += 1 }) { identifier, located in
                found[identifier.message] = located.size
                #expect(located.bytes == Array(message(Int(identifier.message.prefix { $0 != "@" }) ?? -1).utf8))
            }
            #expect(found.count == 30 && found["7@x"] == Int64(message(7).utf8.count))
            // Each message is visited once, and each wanted message once more.
            #expect(visits <= 31 + 40, "\(name)")
        }
    }

    @Test func aMessageOfManyLinesIsUnescapedWithinItsSize() throws {
        let lines = String(repeating: "\n", count: 4_000_000)
        try mail.write("\(from)Message-ID: <1@x>\n\n>From here\n\(lines)>>From there", "Mail/box")
        let settings = try MailSettings(environment: ["HOME": mail.path])
        let box = mail.path + "/Mail/box"
        let found = try LocatedMessage(MessageIdentifier(folder: box, message: "1@x", unique: nil), settings)
        let bytes = try #require(found).bytes
        #expect(bytes.starts(with: "Message-ID: <1@x>\n\nFrom here\n".utf8))
        #expect(bytes.suffix(12).elementsEqual("\n>From there".utf8))
    }

    @Test func messagesAreFoundByTheirIdentifiers() throws {
        try mail.write(
            "\(from)Message-ID: <1@x>\n\none\n\n\(from)Message-ID: <2@x>\n\n>From two\n>>From >\n", "Mail/box")
        let settings = try MailSettings(environment: ["HOME": mail.path])
        let box = mail.path + "/Mail/box"
        let found = try LocatedMessage(MessageIdentifier(folder: box, message: "2@x", unique: nil), settings)
        #expect(
            String(decoding: try #require(found).bytes, as: UTF8.self) == "Message-ID: <2@x>\n\nFrom two\n>From >\n")
        #expect(try LocatedMessage(MessageIdentifier(folder: box, message: "3@x", unique: nil), settings) == nil)
        #expect(
            try LocatedMessage(MessageIdentifier(folder: "/etc/passwd", message: "3@x", unique: nil), settings) == nil)
    }
}
