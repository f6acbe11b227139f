// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import ContactCards
@testable import ContentLines

/// Cards in the styles of 20 different programs.
@Suite("Cards")
struct CardTests {
    private static let samples = Result { try SamplePeople("contacts") }

    private func cards(_ name: String) throws -> [Card] {
        let file = try #require(try CardFile(contentsOf: Self.samples.get()[name]))
        return try CardList(file).entries.map(\.card)
    }

    @Test(arguments: [
        ("google.vcf", ["Ada Lovelace", "Charles Babbage"]), ("apple.vcf", ["Grace Hopper"]),
        ("outlook.vcf", ["Jürgen Müller"]), ("nextcloud.vcf", ["Søren Kierkegård"]), ("evolution.vcf", ["Marie Curie"]),
        ("android.vcf", ["Zoë Ångström", "Łukasz Żak", "Παύλος"]), ("thunderbird.vcf", ["Alan Turing"]),
        ("nokia.vcf", ["Päivi Mäkinen"]), ("khard.vcf", ["Emmy Noether"]), ("kaddressbook.vcf", ["Konqi Dragon"]),
        ("group.vcf", ["Choir"]), ("full.vcf", ["Simon Perreault"]), ("whatsapp.vcf", ["Rosalind"]),
        ("qr.vcf", ["Lise Meitner"]), ("utf16.vcf", ["Ольга Ладыженская"]), ("mac.vcf", ["Maria Mitchell"]),
        ("japanese.vcf", ["秀樹 湯川"]), ("lower.vcf", ["Mary Somerville"]), ("agent.vcf", ["Big Boss"]),
        ("company.vcf", ["Harbour Bakery"]),
    ])
    func namesAreRead(_ file: String, _ names: [String]) throws {
        let cards = try cards(file)
        #expect(cards.map(\.name) == names)
        #expect(cards.allSatisfy { $0.problems.isEmpty })
    }

    @Test func propertiesOfGoogle() throws {
        let ada = try cards("google.vcf")[0]
        #expect(ada.emailAddresses.map(\.value) == ["ada@example.org", "engine@example.org"])
        #expect(ada.emailAddresses[1].label == "Analytical")
        #expect(ada.phoneNumbers.first?.types == ["cell"])
        #expect(ada.addresses.first?.line == "12 St James's Square, SW1Y 4JH London, United Kingdom")
        #expect(ada.organisations == ["Analytical Engines Ltd, Programs"] && ada.titles == ["Programmer"])
        #expect(ada.birthday?.text == "1815-12-10" && ada.birthday?.date != nil)
        #expect(ada.urls.first?.value == "https://ada.example.org")
        #expect(ada.notes == ["Likes number theory, and lace.\nSecond line."])
        #expect(ada.categories == ["myContacts", "friends"])
    }

    @Test func propertiesOfApple() throws {
        let grace = try cards("apple.vcf")[0]
        #expect(grace.birthday?.text == "12-09" && grace.birthday?.date == nil)
        #expect(grace.phoneNumbers.map(\.label) == ["homefax", "cell"])
        #expect(grace.related.first?.value == "Vincent" && grace.related.first?.label == "spouse")
        #expect(grace.picture?.contentType == "public.png" && grace.nicknames == ["Amazing Grace"])
        #expect(grace.revised == Date(timeIntervalSince1970: 1_709_201_472))
    }

    @Test func quotedPrintableOfOutlookIsDecoded() throws {
        let card = try cards("outlook.vcf")[0]
        #expect(card.organisations == ["Café Größe, Einkauf"])
        #expect(card.notes == ["A first line\r\nand a second one"])
        #expect(card.addresses.first?.street == "Straße 1, Hinterhaus")
        #expect(card.phoneNumbers.map(\.value) == ["+49 30 1234567", "+49 170 7654321"])
    }

    @Test func propertiesOfVersion4() throws {
        let simon = try cards("full.vcf")[0]
        #expect(simon.phoneNumbers.map(\.value) == ["+1-418-656-9254;ext=102", "+1-418-262-6501"])
        #expect(simon.birthday?.text == "02-03" && simon.anniversary?.text == "2009-08-08")
        #expect(simon.position?.latitude == 46.772673 && simon.picture != nil)
        #expect(simon.notes.first?.contains("salamander and kaleidoscope") == true)
        #expect(simon.related.first?.value == "Marc Blanchet" && simon.related.first?.label == "friend")
        #expect(try cards("thunderbird.vcf")[0].phoneNumbers.first?.value == "+44-161-496-0000")
    }

    @Test func kindsAndMembersOfGroups() throws {
        let group = try cards("group.vcf")[0]
        #expect(group.kind == .group && group.memberCount == 2)
        #expect(try cards("company.vcf")[0].kind == .organisation)
        #expect(try cards("google.vcf")[0].kind == .person)
    }

    @Test func aCardInsideACardBelongsToIt() throws {
        let boss = try cards("agent.vcf")[0]
        #expect(boss.phoneNumbers.map(\.value) == ["111"])
    }

    @Test func preferredValuesComeFirst() {
        let text =
            "BEGIN:VCARD\nitem1.TEL:1\nitem1.X-ABLABEL:one\nitem2.TEL;TYPE=pref:2\nitem2.X-ABLABEL:two\nEND:VCARD"
        let card = Card(Array(text.utf8)[...])
        #expect(card.phoneNumbers.map(\.value) == ["2", "1"] && card.phoneNumbers.map(\.label) == ["two", "one"])
    }

    @Test func keysAreUniqueAndStayWithTheirCards() throws {
        let one = "BEGIN:VCARD\nUID:a\nFN:One\nEND:VCARD\n"
        let other = "BEGIN:VCARD\nFN:Other\nEND:VCARD\n"
        let keys = CardList(Array((one + other + one + other).utf8)[...]).entries.map(\.key)
        #expect(keys[0] == "uid:a" && keys[2] == "uid:a~2" && Set(keys).count == 4)
        let changed = CardList(Array((other + one.replacing("One", with: "New")).utf8)[...]).entries.map(\.key)
        #expect(changed == [keys[1], keys[0]])
    }

    @Test(
        arguments: [
            ("1815-12-10", "1815-12-10"), ("18151210", "1815-12-10"), ("--1210", "12-10"), ("--12-10", "12-10"),
            ("1996-10-22T14:00:00Z", "1996-10-22"), ("1604-02-29", "02-29"), ("1815-13-10", nil), ("1815-12", nil),
            ("", nil), ("today", nil), ("18151210 extra", "1815-12-10"),
        ] as [(String, String?)])
    func dates(_ text: String, _ expected: String?) {
        #expect(CardDate(text)?.text == expected)
    }

    @Test(arguments: [
        ("1815-12-10", "en_GB", "10 December 1815"), ("1815-12-10", "de_DE", "10. Dezember 1815"),
        ("--12-09", "en_GB", "9 December"), ("1604-02-29", "en_US", "February 29"),
    ])
    func datesAreShownInTheUsersManner(_ text: String, _ locale: String, _ expected: String) {
        #expect(CardDate(text)?.text(in: Locale(identifier: locale)) == expected)
    }

    @Test func plainTextAndPageShowTheCard() throws {
        let ada = try cards("google.vcf")[0]
        #expect(ada.plainText.hasPrefix("Ada Lovelace\n") && ada.plainText.contains("E-mail (Analytical): engine@"))
        let page = ada.html(book: "Work <1>", picture: nil, locale: Locale(identifier: "en_GB"))
        #expect(page.contains("<th>Birthday</th><td>10 December 1815</td>") && ada.plainText.contains("1815-12-10"))
        #expect(page.contains("<a href=\"mailto:ada@example.org\">") && page.contains("Work &lt;1&gt;"))
    }
}
