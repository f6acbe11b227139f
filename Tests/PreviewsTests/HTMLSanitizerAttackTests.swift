// SPDX-License-Identifier: Apache-2.0
import Previews
import TestSupport
import Testing

@Suite("Hostile HTML")
struct HTMLSanitizerAttackTests {
    private static let picture = PreviewAttachment(
        identifier: "part", contentType: "public.png", bytes: Pictures.png()[...])

    private static func page(_ bytes: [UInt8]) throws -> SanitizedPage {
        try HTMLSanitizer(attachments: [picture]).page(bytes[...])
    }

    /// Checks that a page has the required form, and that rewriting does not change it.
    private static func expectHarmless(_ bytes: [UInt8]) throws {
        let page = try page(bytes)
        let problems = PageScanner.problems(of: page.html)
        #expect(problems.isEmpty, "\(String(decoding: bytes.prefix(500), as: UTF8.self)): \(problems)")
        let again = try Self.page(page.html).html
        #expect(
            again == page.html,
            "\(String(decoding: bytes.prefix(500), as: UTF8.self).debugDescription) became \(String(decoding: page.html, as: UTF8.self)) and then \(String(decoding: again, as: UTF8.self))"
        )
    }

    @Test("Each known attack is written harmlessly, and unchanged when it is written again", arguments: HTMLAttacks.all)
    func attack(html: String) throws { try Self.expectHarmless(Array(html.utf8)) }

    @Test("Attacks within attacks", arguments: [901, 902] as [UInt64])
    func combined(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            let (outer, inner) = (Array(random.pick(HTMLAttacks.all).utf8), Array(random.pick(HTMLAttacks.all).utf8))
            let place = random.below(outer.count + 1)
            try Self.expectHarmless(outer[..<place] + inner + outer[place...])
        }
    }

    @Test("Random changes of attacks, even within characters", arguments: [911, 912, 913, 914] as [UInt64])
    func mutated(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "<", ">", "</", "\"", "'", "&", ";", "=", "/", "<!--", "-->", "<style>", "</style>", "{", "}", "<svg>",
            "\\",
        ]
        for _ in 0..<400 {
            var bytes = (0...random.below(3)).flatMap { _ in Array(random.pick(HTMLAttacks.all).utf8) }
            for _ in 0..<random.below(8) {
                let place = random.below(bytes.count + 1)
                switch random.below(4) {
                case 0: bytes.insert(UInt8(random.below(256)), at: place)
                case 1: bytes.insert(contentsOf: Array(random.pick(pieces).utf8), at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + random.below(6)))
                default: bytes.insert(contentsOf: Array(random.text(length: 4).utf8), at: place)
                }
            }
            try Self.expectHarmless(bytes)
        }
    }

    @Test("Elements nested a hundred thousand deep are handled, and those beyond the limit keep their text")
    func deep() throws {
        let page = try Self.page(Array((String(repeating: "<div>", count: 100_000) + "here").utf8))
        #expect(PageScanner.problems(of: page.html).isEmpty)
        let html = String(decoding: page.html, as: UTF8.self)
        #expect(html.contains("here"))
        #expect(html.ranges(of: "<div>").count == HTMLSanitizer.maximumDepth)
        #expect(
            page.removals == [Removal(kind: .nesting, count: 100_000 - HTMLSanitizer.maximumDepth, example: "div")])
        let unclosed = try Self.page(Array(String(repeating: "<svg><b title=\"", count: 50_000).utf8))
        #expect(PageScanner.problems(of: unclosed.html).isEmpty)
    }

    @Test("A megabyte of attributes, of one tag and of one attribute")
    func attributes() throws {
        let many = "<p " + (0..<100_000).map { "a\($0)=1" }.joined(separator: " ") + ">x"
        let page = try Self.page(Array(many.utf8))
        #expect(String(decoding: page.html, as: UTF8.self).contains("<p>x</p>"))
        #expect(page.removals.map(\.kind) == [.attribute] && page.removals[0].count == 100_000)
        let long =
            "<p title=\"" + String(repeating: "x", count: 1 << 20) + "\" style=\""
            + String(repeating: "color:red;", count: 100_000) + "\">x"
        #expect(try Self.page(Array(long.utf8)).html.count < 10_000)
    }

    @Test("Content that grows by escaping stays within the limit, and is reported as truncated")
    func limit() throws {
        let limit = 100_000
        for piece in ["\"<>&", "<p title='&&&&'>", "<img src=cid:part>", "<a href='http://x/&&&'>x</a>", "<p>x "] {
            let page = try HTMLSanitizer(
                attachments: [Self.picture], highlighter: Highlighter(query: "x"), limit: limit
            ).page(Array(String(repeating: piece, count: 20_000).utf8)[...])
            #expect(page.html.count <= limit, "\(piece)")
            #expect(page.removals.contains { $0.kind == .overflow }, "\(piece)")
            #expect(PageScanner.problems(of: page.html).isEmpty, "\(piece)")
        }
    }

    @Test("The work ends after a cancellation")
    func cancelled() {
        var looks = 0
        #expect(throws: CancellationError.self) {
            try HTMLSanitizer().page(Array(String(repeating: "<p>x", count: 10_000).utf8)[...]) {
                looks += 1
                return true
            }
        }
        #expect(looks == 1)
    }
}
