// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import Foundation
import MailMessages
import Synchronization
import Testing

@testable import CoreSpotlight
@testable import Mail

/// Stored mbox states, in memory.
private final class StoredStates: Sendable {
    let all = Mutex<[String: MboxState]>([:])
}

@Suite("Mail handler")
final class HandlerTests {
    private let home = FileManager.default.temporaryDirectory.path + "/mail-handler-" + UUID().uuidString
    private let index = RecordingIndex()
    private let states = StoredStates()
    private let lines = Mutex<[String]>([])
    private var steps = 0

    init() throws {
        for part in ["cur", "new", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: home + "/Maildir/\(part)", withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: home + "/Maildir/.Archive/\(part)", withIntermediateDirectories: true)
        }
        try FileManager.default.createDirectory(atPath: home + "/Mail", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private var maildir: String { home + "/Maildir" }
    private var box: String { home + "/Mail/box" }

    private func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func text(_ number: Int, _ more: String = "") -> String {
        "From: Ada <ada@example.org>\nSubject: number \(number)\nMessage-ID: <\(number)@x>\n\(more)\nferry \(number)\n\n"
    }

    private func mbox(_ numbers: Int...) -> String {
        numbers.map { "From - Tue Nov 24 10:11:12 2026\n" + text($0) }.joined()
    }

    private func identifier(_ number: Int, _ unique: String? = nil, in folder: String? = nil) -> String {
        MessageIdentifier(folder: folder ?? (unique == nil ? box : maildir), message: "\(number)@x", unique: unique)
            .text
    }

    private func handler(clock: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now })
        -> IndexRequestHandler
    {
        let home = home
        return IndexRequestHandler(
            settings: { try MailSettings(environment: ["HOME": home]) },
            report: { [unowned self] line in lines.withLock { $0.append(line) } }, now: clock,
            temporaryFolder: URL(filePath: home + "/tmp", directoryHint: .isDirectory),
            states: MboxStates(
                state: { [states] path in states.all.withLock { $0[path] } },
                set: { [states] state, path, _ in states.all.withLock { $0[path] = state } }))
    }

    /// Requests all pages. Returns their number, or nil if a page was not acknowledged.
    private func reindexAll(
        _ handler: IndexRequestHandler? = nil, items: Int = 1000, index: RecordingIndex? = nil, newHandler: Bool = false
    ) -> Int? {
        var handler = handler ?? self.handler()
        var cursor: Data?
        for pages in 1...10_000 {
            let answer = Mutex<Data??>(nil)
            handler.searchableIndex(
                index ?? self.index,
                reindexPage: CSReindexPage(cursor: cursor, maximumItemCount: items, maximumDuration: .seconds(60))
            ) { next in answer.withLock { $0 = .some(next) } }
            guard let next = answer.withLock({ $0 }) else { return nil }
            guard let next else { return pages }
            cursor = next
            if newHandler { handler = self.handler() }
        }
        return nil
    }

    private func update(_ paths: String..., handler: IndexRequestHandler? = nil) -> Bool {
        let acknowledged = Mutex(false)
        (handler ?? self.handler()).searchableIndex(
            index, updateItemsForFileChanges: paths.map { .changed(URL(filePath: $0, directoryHint: .notDirectory)) }
        ) { acknowledged.withLock { $0 = true } }
        return acknowledged.withLock { $0 }
    }

    private var titles: [String] { index.state.items.values.compactMap(\.attributeSet.title).sorted() }

    // MARK: Reindexing

    @Test(arguments: [false, true]) func pagesHaveEachMessageOnce(newHandler: Bool) throws {
        for number in 0..<25 { try write(text(number), to: maildir + "/cur/\(100 + number).host:2,S") }
        try write((30..<45).map { mbox($0) }.joined(), to: box)
        #expect(reindexAll(items: 7, newHandler: newHandler) == 6)
        #expect(index.state.items.count == 40)
        #expect(
            index.takeCalls().filter { $0.hasPrefix("index") } == Array(repeating: "index 7", count: 5) + ["index 5"])
        #expect(states.all.withLock { $0.keys.sorted() } == [box])
    }

    @Test func itemsHaveWhatTheMessageSays() throws {
        try write(
            "From: Ada <ada@example.org>\nTo: Bob <bob@example.org>, eve@example.org\nCc: Carl <carl@example.org>\n"
                + "Subject: Ferry\nDate: Tue, 24 Nov 2026 10:11:12 +0100\nMessage-ID: <a/b+c@x>\nReferences: <root@x>\n"
                + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHarbour at noon\n--b\nContent-Type: application/pdf\n"
                + "Content-Disposition: attachment; filename=plan.pdf\n\nPDF\n--b--\n", to: maildir + "/cur/1.host:2,FS"
        )
        #expect(reindexAll() == 1)
        let item = try #require(index.state.items.values.first)
        let attributes = item.attributeSet
        #expect(item.uniqueIdentifier == maildir + "//file:1.host//a/b+c@x")
        #expect(item.domainIdentifier == "Maildir." + FNV1a.hash("root@x".utf8).hexadecimal)
        #expect(item.expirationDate == .distantFuture)
        #expect(attributes.title == "Ferry" && attributes.subject == "Ferry")
        #expect(attributes.contentType == "public.email-message")
        #expect(attributes.textContent == "Harbour at noon" && attributes.contentDescription == "Harbour at noon")
        #expect(attributes.authorNames == ["Ada"] && attributes.authorEmailAddresses == ["ada@example.org"])
        #expect(attributes.authors?.first?.handles == ["ada@example.org"])
        #expect(attributes.primaryRecipients?.count == 2 && attributes.additionalRecipients?.count == 1)
        #expect(attributes.recipientNames == ["Bob", "Carl"])
        #expect(attributes.contentCreationDate == Date(timeIntervalSince1970: 1_795_511_472))
        #expect(attributes.url?.absoluteString == "mid:a%2Fb+c@x")
        #expect(attributes.mailboxIdentifiers == [CSMailboxInbox] && attributes.accountIdentifier == "Maildir")
        #expect(attributes.contentURL?.path(percentEncoded: false) == maildir + "/cur/1.host:2,FS")
        #expect(attributes.providerFileTypeIdentifiers == ["com.apple.mail.email", "com.adobe.pdf"])
        #expect(attributes.providerInPlaceFileTypeIdentifiers == ["com.apple.mail.email"])
        func custom(_ name: String) throws -> (any NSSecureCoding)? {
            attributes.value(forCustomKey: try #require(CSCustomAttributeKey(keyName: name)))
        }
        #expect(try custom("com_searchlight_mail_read") as? NSNumber == true)
        #expect(try custom("com_searchlight_mail_flagged") as? NSNumber == true)
        #expect(try custom("com_searchlight_mail_replied") as? NSNumber == false)
        #expect((try custom("attachmentNames") as? NSArray)?.count == 1)
    }

    @Test func whatIsLeftOutIsReported() throws {
        try FileManager.default.createDirectory(atPath: maildir + "/.Trash/cur", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: maildir + "/.Trash/new", withIntermediateDirectories: true)
        try write(text(1), to: maildir + "/.Trash/cur/1")
        try write(text(2), to: maildir + "/cur/2.host:2,T")
        try write("", to: maildir + "/new/3.host")
        try FileManager.default.createSymbolicLink(atPath: maildir + "/new/4.host", withDestinationPath: "/dev/null")
        #expect(reindexAll() == 1)
        #expect(
            index.state.leftOut == [
                maildir + "/.Trash": "in the trash", identifier(2, "2.host"): "marked as deleted",
                maildir + "/new/3.host": "not a message", maildir + "/new/4.host": "not a regular file",
            ])
        #expect(index.state.items.isEmpty)
    }

    @Test func failedPagesAreNotAcknowledged() throws {
        try write(text(1), to: maildir + "/cur/1")
        #expect(reindexAll(index: RecordingIndex(isFailing: true)) == nil)
        #expect(lines.withLock { $0.last }?.hasPrefix("reindexing failed: ") == true)
    }

    @Test func throttledPagesAreShortAndCancelledOnesEnd() throws {
        for number in 0..<120 { try write(text(number), to: maildir + "/cur/\(1000 + number)") }
        let handler = handler()
        handler.searchableIndexDidThrottle(index)
        #expect(reindexAll(handler) == 3)
        handler.searchableIndexDidFinishThrottle(index)
        #expect(reindexAll(handler) == 1)
        let answered = Mutex(false)
        handler.searchableIndex(
            index,
            reindexPage: CSReindexPage(cursor: nil, maximumItemCount: 10, maximumDuration: .seconds(1)) { true }
        ) { _ in answered.withLock { $0 = true } }
        #expect(!answered.withLock { $0 })
    }

    @Test func longWorkShowsProgress() throws {
        for number in 0..<9 { try write(text(number), to: maildir + "/cur/\(number).host:2,S") }
        let start = ContinuousClock.now
        // Each reading of the clock returns a time one second later.
        let clock = { [unowned self] in
            steps += 1
            return start + .seconds(steps)
        }
        func signs() -> Int {
            lines.withLock { lines in
                defer { lines = [] }
                return lines.count { $0.hasPrefix("reading ") }
            }
        }
        #expect(reindexAll(handler(clock: clock)) == 1 && signs() > 3)
        try FileManager.default.removeItem(atPath: maildir + "/cur/0.host:2,S")
        let paths = (1..<9).map { maildir + "/cur/\($0).host:2,S" } + [maildir + "/cur/0.host:2,S"]
        handler(clock: clock).searchableIndex(
            index, updateItemsForFileChanges: paths.map { .changed(URL(filePath: $0, directoryHint: .notDirectory)) }
        ) {}
        // At least one report for every third message that is compared, and again for those that
        // are donated.
        #expect(signs() >= 4)
    }

    @Test func aFolderWhosePathIsTooLongForACursorDoesNotEndTheReindex() throws {
        // Escapes make the names in a cursor six times as long.
        var long = home + "/Mail"
        for _ in 0..<4 { long += "/" + String(repeating: "\u{1}", count: 200) }
        for part in ["cur", "new"] {
            try FileManager.default.createDirectory(atPath: long + "/" + part, withIntermediateDirectories: true)
        }
        for number in 0..<3 { try write(text(number), to: long + "/cur/\(number)") }
        for number in 3..<9 { try write(text(number), to: maildir + "/cur/\(number)") }
        #expect(try #require(reindexAll(items: 2)) > 2)
        #expect(index.state.items.count == 2 + 6)
        #expect(index.state.leftOut == [long: "path and Message-ID too long"])
    }

    @Test func pagesEndAfterTheirTime() throws {
        for number in 0..<10 { try write(text(number), to: maildir + "/cur/\(number)") }
        let start = ContinuousClock.now
        // Each reading of the clock returns a time 20 seconds later. A page may take 60 seconds.
        let clock = { [unowned self] in
            steps += 1
            return start + .seconds(20 * steps)
        }
        let pages = try #require(reindexAll(handler(clock: clock)))
        #expect(pages >= 3 && index.state.items.count == 10)
    }

    @Test func identifiersAreDonatedOrDeleted() throws {
        try write(text(1), to: maildir + "/cur/1.host:2,PS")
        try write(mbox(2, 3), to: box)
        let acknowledged = Mutex(false)
        handler().searchableIndex(
            index,
            reindexSearchableItemsWithIdentifiers: [
                identifier(1, "1.host"), identifier(3), identifier(4), identifier(1, "9.host"), "/etc/passwd", "x",
            ]
        ) { acknowledged.withLock { $0 = true } }
        #expect(acknowledged.withLock { $0 })
        #expect(index.takeCalls() == ["index 2", "delete 4"] && titles == ["number 1", "number 3"])
    }

    @Test func identifiersOfLargeMessagesKeepTheirSize() throws {
        let path = maildir + "/cur/1.host:2,S"
        try write(text(1), to: path)
        #expect(truncate(path, 70_000_000) == 0)
        #expect(reindexAll() == 1)
        let size = index.state.items.values.first?.attributeSet.fileSize
        #expect(size == 70)
        lines.withLock { $0 = [] }
        handler().searchableIndex(index, reindexSearchableItemsWithIdentifiers: [identifier(1, "1.host")]) {}
        #expect(index.state.items.values.first?.attributeSet.fileSize == size)
        #expect(lines.withLock { $0 }.contains { $0.contains("read in part: larger than") })
    }

    // MARK: Changes

    @Test func messagesAppearChangeFlagsAndGo() throws {
        try write(text(1), to: maildir + "/new/1.host")
        #expect(update(maildir + "/new/1.host") && titles == ["number 1"])
        let old = try #require(index.state.items.values.first?.uniqueIdentifier)
        try FileManager.default.moveItem(atPath: maildir + "/new/1.host", toPath: maildir + "/cur/1.host:2,S")
        #expect(update(maildir + "/new/1.host", maildir + "/cur/1.host:2,S"))
        #expect(index.state.items.keys.sorted() == [old])
        #expect(index.state.items[old]?.attributeSet.contentURL?.lastPathComponent == "1.host:2,S")
        // The change of flags has not been reported yet.
        try FileManager.default.moveItem(atPath: maildir + "/cur/1.host:2,S", toPath: maildir + "/cur/1.host:2,RS")
        #expect(update(maildir + "/cur/1.host:2,S") && titles == ["number 1"])
        try FileManager.default.removeItem(atPath: maildir + "/cur/1.host:2,RS")
        #expect(update(maildir + "/cur/1.host:2,RS") && titles == [])
    }

    @Test func movedMessagesStayTheSameItem() throws {
        try write(text(1), to: maildir + "/cur/1.host:2,S")
        try write(text(2), to: maildir + "/cur/2.host:2,S")
        #expect(reindexAll() == 1)
        _ = index.takeCalls()
        // A mail program creates the new file and then removes the old one.
        try write(text(1), to: maildir + "/.Archive/cur/77.other:2,S")
        try FileManager.default.removeItem(atPath: maildir + "/cur/1.host:2,S")
        #expect(update(maildir + "/cur/1.host:2,S", maildir + "/.Archive/cur/77.other:2,S"))
        #expect(index.takeCalls() == ["rename 1", "index 1"])
        #expect(
            index.state.items.keys.sorted()
                == [
                    identifier(1, "77.other", in: maildir + "/.Archive"), identifier(2, "2.host"),
                ].sorted())
        // A message that was moved to the trash has no item.
        for part in ["cur", "new"] {
            try FileManager.default.createDirectory(
                atPath: maildir + "/.Trash/" + part, withIntermediateDirectories: true)
        }
        try FileManager.default.moveItem(
            atPath: maildir + "/cur/2.host:2,S", toPath: maildir + "/.Trash/cur/2.host:2,S")
        #expect(update(maildir + "/cur/2.host:2,S", maildir + "/.Trash/cur/2.host:2,S") && titles == ["number 1"])
    }

    @Test func ofAnMboxOnlyWhatIsNewIsRead() throws {
        try write(mbox(1, 2, 3), to: box)
        #expect(reindexAll() == 1)
        _ = index.takeCalls()
        #expect(update(box) && index.takeCalls() == [])
        try write(mbox(1, 2, 3, 4), to: box)
        // The message that was previously last is read again.
        #expect(update(box) && index.takeCalls() == ["index 2"] && titles.count == 4)
        // Rewritten: 2 is missing, 5 is new, and the others are known.
        try write(mbox(3, 1, 5, 4), to: box)
        #expect(update(box) && index.takeCalls() == ["index 1", "delete 1"])
        #expect(titles == ["number 1", "number 3", "number 4", "number 5"])
        states.all.withLock { $0 = [:] }
        #expect(update(box) && index.takeCalls() == [])
        try FileManager.default.moveItem(atPath: box, toPath: home + "/Mail/renamed")
        #expect(update(box, home + "/Mail/renamed") && index.takeCalls() == ["rename 4", "index 4"])
        try FileManager.default.removeItem(atPath: home + "/Mail/renamed")
        #expect(update(home + "/Mail/renamed") && titles == [])
    }

    @Test func anMboxThatReturnsGetsItsItemsAgain() throws {
        try write(mbox(1, 2), to: box)
        #expect(reindexAll() == 1)
        let away = home + "/Mail/x"
        try FileManager.default.moveItem(atPath: box, toPath: away)
        #expect(update(box, away) && titles == ["number 1", "number 2"])
        try FileManager.default.moveItem(atPath: away, toPath: box)
        #expect(update(away, box))
        #expect(index.state.items.keys.sorted() == [identifier(1), identifier(2)])
        // A reindex found no mbox, so the host has deleted its items.
        index.deleteSearchableItems(withIdentifiers: [identifier(1), identifier(2)])
        #expect(update(box) && titles == ["number 1", "number 2"])
    }

    @Test func aMessageWithTwoIdentifiersStays() throws {
        let text = mbox(1).replacing("Message-ID: <1@x>", with: "Message-ID: <1@x>\nMessage-ID: <2@x>")
        try write(text, to: box)
        #expect(reindexAll() == 1)
        #expect(index.state.items.keys.sorted() == [identifier(1)])
        try write(mbox(3) + text, to: box)
        #expect(update(box) && index.state.items.keys.sorted() == [identifier(1), identifier(3)])
    }

    @Test func messagesMoveFromAnMboxToAnother() throws {
        let other = home + "/Mail/other"
        try write(mbox(1, 2), to: box)
        try write(mbox(3), to: other)
        #expect(reindexAll() == 1)
        _ = index.takeCalls()
        try write(mbox(3, 1), to: other)
        try write(mbox(1, 2).replacing("Subject: number 1", with: "X-Mozilla-Status: 0008\nSubject: number 1"), to: box)
        #expect(update(box, other) && index.takeCalls() == ["rename 1", "index 2"])
        #expect(
            index.state.items.keys.sorted()
                == [
                    identifier(2), identifier(1, in: other), identifier(3, in: other),
                ].sorted())
    }

    @Test func messagesOfAFolderThatIsMissingAreKept() throws {
        try write(text(1), to: maildir + "/cur/1.host")
        #expect(reindexAll() == 1)
        try FileManager.default.moveItem(atPath: maildir, toPath: home + "/unmounted")
        #expect(update(maildir + "/cur/1.host") && titles == ["number 1"])
        handler().searchableIndex(index, reindexSearchableItemsWithIdentifiers: [identifier(1, "1.host")]) {}
        #expect(titles == ["number 1"])
    }

    @Test func otherFilesAreNoneOfMails() throws {
        #expect(update(home + "/Mail/notes.html", "/etc/passwd", home + "/Mail/.hidden", home + "/Mail/no-mailbox"))
        #expect(index.takeCalls() == [] && index.state.leftOut.isEmpty)
    }

    // MARK: Promises and previews

    @Test func messagesAndAttachmentsAreDelivered() throws {
        let mail =
            "From: a@b\nSubject: A/B: \u{1}ferry\nMessage-ID: <1@x>\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
            + "Content-Type: text/html\n\n<p>Noon</p>\n--b\nContent-Type: application/pdf; name=\"../plan.pdf\"\n"
            + "Content-Transfer-Encoding: base64\n\nUERG\n--b--\n"
        try write(mail, to: maildir + "/cur/1.host:2,S")
        let handler = handler()
        let item = identifier(1, "1.host")
        func data(_ type: String) throws -> String {
            String(decoding: try handler.data(for: index, itemIdentifier: item, typeIdentifier: type), as: UTF8.self)
        }
        func file(_ type: String, _ item: String, inPlace: Bool = false) throws -> URL {
            try handler.fileURL(for: index, itemIdentifier: item, typeIdentifier: type, inPlace: inPlace)
        }
        for type in ["com.apple.mail.email", "public.email-message"] {
            #expect(try data(type) == mail)
            #expect(try file(type, item).lastPathComponent == "A_B: ferry.eml")
        }
        #expect(try data("public.html") == "<p>Noon</p>")
        #expect(try data("public.utf8-plain-text").contains("From: a@b\n"))
        #expect(try data("public.utf8-plain-text").hasSuffix("\nNoon\n"))
        #expect(throws: UnsupportedType.self) { try data("public.png") }
        #expect(
            try file("com.apple.mail.email", item, inPlace: true).path(percentEncoded: false)
                == maildir + "/cur/1.host:2,S")
        let copy = try file("public.email-message", item)
        #expect(copy.lastPathComponent == "A_B: ferry.eml")
        #expect(try Data(contentsOf: copy) == Data(mail.utf8))
        let pdf = try file("com.adobe.pdf", item)
        #expect(pdf.lastPathComponent == "_plan.pdf")
        #expect(try Data(contentsOf: pdf) == Data("PDF".utf8))
        #expect(throws: UnsupportedType.self) { try file("com.adobe.pdf", item, inPlace: true) }
        #expect(throws: CocoaError.self) { try file("public.email-message", self.identifier(9, "9")) }
        try write(mbox(2), to: box)
        #expect(throws: UnsupportedType.self) { try file("public.email-message", self.identifier(2), inPlace: true) }
        #expect(try Data(contentsOf: file("public.email-message", identifier(2))) == Data(text(2).utf8))
        // Old deliveries are removed.
        for _ in 0..<Deliveries.maximumCount + 3 { _ = try file("com.adobe.pdf", item) }
        let kept = try FileManager.default.contentsOfDirectory(atPath: home + "/tmp/delivered")
        #expect(kept.count == Deliveries.maximumCount)
    }

    @Test func previewsHaveTheHeaderThePageAndItsPictures() async throws {
        try write(
            "From: <ada@example.org>\nSubject: <b>Ferry\nMessage-ID: <1@x>\nContent-Type: multipart/related; boundary=b\n\n--b\n"
                + "Content-Type: text/html\n\n<p>Noon <img src='cid:one'></p>\n--b\nContent-Type: image/png\n"
                + "Content-ID: <one>\nContent-Transfer-Encoding: base64\n\niVBORw==\n--b--\n",
            to: maildir + "/cur/1.host:2,S")
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: identifier(1, "1.host"), queryString: nil)
        #expect(reply.title == "<b>Ferry")
        let rendered = try RenderedPreview(reply)
        let page = String(decoding: rendered.data, as: UTF8.self)
        #expect(page.contains("<h1 class=\"mail-subject\">&lt;b&gt;Ferry</h1>") && page.contains("<p>Noon"))
        #expect(page.contains("<td>ada@example.org</td>"))
        #expect(rendered.attachments.map(\.identifier) == ["one"])
    }

    @Test func pageHasTheDateInTheUsersManner() throws {
        try write(
            "From: a@b\nSubject: Ferry\nDate: Tue, 24 Nov 2026 10:11:12 +0000\nMessage-ID: <1@x>\n\nNoon\n",
            to: maildir + "/cur/1.host:2,S")
        let name = try #require(MessageIdentifier(identifier(1, "1.host")))
        let settings = try MailSettings(environment: ["HOME": home])
        let located = try #require(try LocatedMessage(name, settings, visiting: {}))
        let page = MessagePage(located, locale: Locale(identifier: "de_DE")).html
        #expect(page.contains("<tr><th>Date</th><td>24. Nov. 2026"), "\(page)")
    }

    @Test(arguments: [
        (["LC_ALL": "", "LC_TIME": "de_AT.UTF-8@euro", "LANG": "fr_FR"], "de_AT"), (["LANG": "fr_FR.UTF-8"], "fr_FR"),
        (["LC_TIME": "C", "LANG": "fr_FR"], "en_001"), ([:], "en_001"),
    ])
    func localeOfDatesIsThatOfTheEnvironment(_ environment: [String: String], _ identifier: String) {
        #expect(Locale(datesIn: environment).identifier == identifier)
    }

    @Test func namesOfFilesAreHarmless() {
        #expect(Deliveries.fileName("a/b\\c\n.txt") == "a_b_c_.txt")
        #expect(Deliveries.fileName("..") == "message" && Deliveries.fileName("") == "message")
        #expect(Deliveries.fileName(String(repeating: "ü", count: 200) + ".pdf").utf8.count <= 120)
        #expect(Deliveries.fileName(String(repeating: "ü", count: 200) + ".pdf").hasSuffix("ü.pdf"))
    }
}
