// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import MailMessages

@Suite("Message")
struct MessageTests {
    @Test func headerPeopleAndThread() {
        let message = read(
            """
            From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
            To: Ada <ada@example.org>, Friends: Bob <bob@example.org>, eve@example.org;
            Cc: cc@example.org
            Bcc: Hidden <bcc@example.org>
            Subject: Re: =?utf-8?b?R3LDvMOfZQ==?=
            Date: Tue, 24 Nov 2026 10:11:12 +0100
            Message-ID: <c@example.org>
            References: <a@example.org>
             <b@example.org>
            List-Id: The news <news.example.org>

            Hello
            """)
        #expect(message.identifier == "c@example.org" && message.hasIdentifier)
        #expect(message.thread == "a@example.org")
        #expect(message.subject == "Re: Grüße")
        #expect(message.from == [MailPerson(name: "Jürgen", address: "j@example.org")])
        #expect(
            message.to == [
                MailPerson(name: "Ada", address: "ada@example.org"),
                MailPerson(name: "Bob", address: "bob@example.org"),
                MailPerson(name: nil, address: "eve@example.org"),
            ])
        #expect(message.cc.map(\.address) == ["cc@example.org"] && message.bcc.map(\.name) == ["Hidden"])
        #expect(message.date == Date(timeIntervalSince1970: 1_795_511_472))
        #expect(message.listIdentifier == "news.example.org")
        #expect(message.text == "Hello")
    }

    @Test func messageWithoutIdentifierHasTheSameOneEachTime() {
        let text = "From: a@example.org\nSubject: x\n\nbody"
        let message = read(text)
        #expect(!message.hasIdentifier && message.identifier.hasPrefix("no-message-id-"))
        #expect(read(text).identifier == message.identifier && message.thread == message.identifier)
        #expect(read(text + "!").identifier != message.identifier)
    }

    @Test func dateFallsBackToReceived() {
        let message = read(
            "From: a@b\nDate: Thu, 01 Jan 1970 00:00:00 +0000\nReceived: from x by y; Tue, 24 Nov 2026 10:11:12 +0100\n\n"
        )
        #expect(message.date == Date(timeIntervalSince1970: 1_795_511_472))
        #expect(read("From: a@b\nDate: yesterday\n\n").date == nil)
    }

    @Test func flagsOfEachFormat() {
        #expect(MailFlags(fileName: "1.2.host:2,FRS") == [.flagged, .replied, .read])
        #expect(MailFlags(fileName: "1.2.host:2,T") == [.deleted])
        #expect(MailFlags(fileName: "1.2.host") == [] && MailFlags(fileName: "1.2.host:1,S") == [])
        #expect(read("From: a@b\nStatus: RO\nX-Status: AF\n\n").flags == [.read, .replied, .flagged])
        #expect(read("From: a@b\nX-Mozilla-Status: 000b\n\n").flags == [.read, .replied, .deleted])
        let tagged = read("From: a@b\nX-Mozilla-Keys: $label1 todo\nX-Spam-Flag: YES\n\n")
        #expect(tagged.tags == ["$label1", "todo"] && tagged.isSpam)
    }

    @Test func messagesOfTwentyKinds() throws {
        let files = try SampleMail().made("kinds")
        #expect(files.count == 20)
        let messages = files.mapValues { read($0) }
        for (name, message) in messages { #expect(message.problems.isEmpty && message.hasIdentifier, "\(name)") }
        func text(_ name: String) -> String { messages[name]?.text ?? "" }
        #expect(text("newsletter") == "Read this newsletter in a browser.\n")
        #expect(text("only-html") == "Your parcel is on its way.\nTracking: AB12")
        #expect(text("inline-picture") == "Look: the pier")
        #expect(text("invitation").contains("You are invited") && text("invitation").contains("Room Nautilus"))
        #expect(text("forward").contains("See below") && text("forward").contains("at the harbour at noon"))
        #expect(text("bounce") == "The mailbox is full.")
        #expect(text("japanese") == "会議は金曜日です" && messages["japanese"]?.subject == "会議")
        #expect(text("russian") == "Встреча у маяка" && messages["russian"]?.subject == "Привет")
        #expect(text("undeclared-latin").contains("Die Fähre fährt um fünf"))
        #expect(text("quoted-printable") == "Schöne Grüße aus Köln\n")
        #expect(text("digest").contains("About keels") && messages["digest"]?.listIdentifier == "sailing.example.org")
        #expect(messages["encrypted"]?.isEncrypted == true && text("encrypted").isEmpty)
        #expect(messages["signed"]?.attachments == [])
        #expect(messages["reply"]?.thread == "kind-0@example.org")
        #expect(messages["windows"]?.flags == [.read, .replied, .flagged])
        #expect(messages["attachment"]?.attachments.map(\.name) == ["Rechnung März.pdf"])
        #expect(messages["attachment"]?.attachments.map(\.type) == ["application/pdf"])
        #expect(messages["inline-picture"]?.attachments.map(\.isInline) == [true])
    }

    @Test func attachmentsAndHTMLAreDecoded() throws {
        let files = try SampleMail().made("kinds")
        let invoice = try #require(files["attachment"])
        let pdf = invoice.withUnsafeBytes { bytes in
            Message(bytes).attachments.first.flatMap { Message.attachment(part: $0.part, of: bytes) }
        }
        #expect(pdf?.count == 3009 && pdf?.starts(with: Data("%PDF-1.4".utf8)) == true)
        let photos = try #require(files["inline-picture"])
        let picture = photos.withUnsafeBytes { bytes in
            Message(bytes).attachments.first.flatMap { Message.attachment(part: $0.part, of: bytes) }
        }
        #expect(picture?.count == 208)
        #expect(photos.withUnsafeBytes { Message.html(of: $0, limit: 1 << 20) }?.contains("cid:one") == true)
        #expect(try #require(files["plain"]).withUnsafeBytes { Message.html(of: $0, limit: 1 << 20) } == nil)
        #expect(invoice.withUnsafeBytes { Message.attachment(part: 99, of: $0) } == nil)
    }

    @Test func numbersOfPartsAreThoseOfAlternativesInAnyOrder() {
        let text = """
            From: a@b
            Content-Type: multipart/mixed; boundary=m

            --m
            Content-Type: multipart/alternative; boundary=a

            --a
            Content-Type: text/html

            <p>html
            --a
            Content-Type: text/plain

            plain
            --a--
            --m
            Content-Type: application/x-one; name=one

            first
            --m--
            """
        let message = read(text)
        #expect(message.text == "plain")
        let data = Array(text.utf8).withUnsafeBytes { bytes in
            message.attachments.first.flatMap { Message.attachment(part: $0.part, of: bytes) }
        }
        #expect(data == Data("first".utf8))
    }

    @Test func contentsBeyondTheLimitAreLeftOut() {
        let part = "--m\nContent-Type: application/x-one\n\n12345678\n"
        let text = "From: a@b\nContent-Type: multipart/mixed; boundary=m\n\n" + part + part + part + "--m--\n"
        let numbers = read(text).attachments.map(\.part)
        let contents = Array(text.utf8).withUnsafeBytes {
            Message.attachments(parts: numbers + [99], of: $0, limit: 20)
        }
        #expect(numbers.count == 3 && contents.keys.sorted() == Array(numbers.prefix(2)))
        #expect(contents[numbers[0]] == Data("12345678".utf8))
    }

    @Test func attachedPagesAreNoHTMLOfTheMessage() {
        let text = """
            From: a@b
            Content-Type: multipart/alternative; boundary=a

            --a
            Content-Type: text/plain

            plain
            --a
            Content-Type: text/html
            Content-Disposition: attachment; filename=page.html

            <p>attached
            --a--
            """
        let message = read(text)
        #expect(!message.hasHTML && message.attachments.map(\.name) == ["page.html"])
        #expect(message.text == "plain\n\nattached")
        #expect(Array(text.utf8).withUnsafeBytes { Message.html(of: $0, limit: 1000) } == nil)
    }

    @Test func theFirstMessageIDCounts() {
        func identifiers(_ text: String, isWhole: Bool = true) -> [String?] {
            let alone = Array(text.utf8).withUnsafeBytes { Message.identify($0, isWhole: isWhole).identifier }
            let message = read(text)
            return [alone, message.hasIdentifier ? message.identifier : nil]
        }
        #expect(identifiers("From: a@b\nMessage-ID: <1@x>\nMessage-ID: <2@x>\n\nx") == ["1@x", "1@x"])
        #expect(identifiers("From: a@b\nMessage-ID:\nMessage-ID: <2@x>\n\nx") == [nil, nil])
        #expect(identifiers("From: a@b\nmessage-id : \n <1@x>\n\nx") == ["1@x", "1@x"])
        #expect(identifiers("From: a@b\nMessage-ID: <1@x>") == ["1@x", "1@x"])
        // If only the beginning of a message is given, the field may continue.
        #expect(identifiers("From: a@b\nMessage-ID: <1@x>", isWhole: false) == [nil, "1@x"])
        #expect(identifiers("From: a@b\nMessage-ID: <1@x>\n", isWhole: false) == [nil, "1@x"])
        #expect(identifiers("From: a@b\nMessage-ID: <1@x>\nT: x\n", isWhole: false) == ["1@x", "1@x"])
        // The same for a header that is truncated.
        let groups = "To: " + String(repeating: "a:", count: 5000)
        #expect(identifiers("From: a@b\n" + groups + "\nMessage-ID: <1@x>\n\nx") == ["1@x", "1@x"])
    }

    @Test func textBeyondTheLimitIsCounted() {
        let message = read("From: a@b\n\n" + String(repeating: "word word\n", count: 100_000))
        #expect(message.text.utf8.count <= Message.Limits.text && message.text.utf8.count > Message.Limits.text - 8)
        #expect(message.missingText > 0)
    }

    @Test func digestsOfTextAreStable() {
        #expect(FNV1a.hash("a".utf8).hexadecimal == "af63dc4c8601ec8c")
        #expect(UInt64(1).hexadecimal == "0000000000000001")
    }
}

@Suite("Hostile messages")
struct HostileMessageTests {
    @Test(.timeLimit(.minutes(5))) func eachIsReadWithinItsBounds() throws {
        for (name, bytes) in try SampleMail().made("hostile") {
            let message = read(bytes)
            #expect(message.text.utf8.count <= Message.Limits.text, "\(name)")
            #expect(message.attachments.count <= Message.Limits.attachments, "\(name)")
            #expect(message.to.count <= Message.Limits.people, "\(name)")
            for part in 0..<3 as Range<UInt32> {
                _ = bytes.withUnsafeBytes { Message.attachment(part: part, of: $0) }
            }
            _ = bytes.withUnsafeBytes { Message.html(of: $0, limit: 1 << 20) }
        }
    }

    @Test func faultsAreNamed() throws {
        let files = try SampleMail().made("hostile")
        func problems(_ name: String) throws -> [Message.Problem] { read(try #require(files[name])).problems }
        #expect(try problems("empty") == [.noMessage])
        #expect(try problems("empty-parts") == [.tooManyParts])
        #expect(try problems("many-parts") == [.tooManyParts])
        #expect(try problems("nested").contains(.tooDeep))
        #expect(try problems("nested-messages").contains(.tooDeep))
        for name in [
            "huge-header", "many-headers", "many-recipients", "parameters", "groups", "groups-inside",
            "huge-first-line", "blanks-in-headers", "long-names", "recipients-inside",
        ] {
            #expect(try problems(name) == [.tooMuchHeader], "\(name)")
        }
        #expect(try problems("groups-of-lines") == [])
        // The rest of the message is still read.
        for name in ["huge-header", "groups", "huge-first-line"] {
            #expect(read(try #require(files[name])).text == "word", "\(name)")
        }
        #expect(read(try #require(files["many-parts"])).text.hasPrefix("word"))
    }

    /// Changes random bytes in real messages. An environment variable makes this test longer.
    @Test(.timeLimit(.minutes(60))) func fuzz() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SEARCHLIGHT_MAIL_FUZZ"].flatMap { Int($0) } ?? 10_000
        let seed = environment["SEARCHLIGHT_MAIL_SEED"].flatMap { UInt64($0) } ?? 1
        var random = SplitMix64(state: seed)
        let files = try SampleMail().made("kinds").sorted { $0.key < $1.key }.map(\.value)
        let pieces = [
            "--b\n", "\n\n", "Content-Type: message/rfc822\n\n", "Content-Type: multipart/alternative; boundary=b\n\n",
            "=?utf-8?b?",
            "<a>", "<!--", "\0", "\u{FFFF}", "Content-Transfer-Encoding: uuencode\n", "charset=utf-7;", "begin 644 a\n",
            "%", "=", "(",
        ].map { Array($0.utf8) }
        for _ in 0..<count {
            var bytes = files[Int(random.next() % UInt64(files.count))]
            for _ in 0...random.next() % 12 {
                let place = Int(random.next() % UInt64(max(1, bytes.count)))
                switch random.next() % 5 {
                case 0 where !bytes.isEmpty: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 40)))
                case 2:
                    bytes.insert(
                        contentsOf: pieces[Int(random.next() % UInt64(pieces.count))], at: min(place, bytes.count))
                case 3:
                    bytes.insert(
                        contentsOf: bytes[place..<min(bytes.count, place + Int(random.next() % 200))], at: place)
                default: bytes = Array(bytes.prefix(place + 1))
                }
            }
            let message = read(bytes)
            try #require(message.text.utf8.count <= Message.Limits.text)
            try #require(message.attachments.count <= Message.Limits.attachments)
            bytes.withUnsafeBytes { bytes in
                if let attachment = message.attachments.first {
                    _ = Message.attachment(part: attachment.part, of: bytes)
                }
                if message.hasHTML { _ = Message.html(of: bytes, limit: 1 << 16) }
                _ = Message.identify(bytes, isWhole: true)
            }
        }
    }
}

/// A random number generator whose results depend only on its seed.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var result = state
        result = (result ^ (result >> 30)) &* 0xbf58_476d_1ce4_e5b9
        result = (result ^ (result >> 27)) &* 0x94d0_49bb_1331_11eb
        return result ^ (result >> 31)
    }
}
