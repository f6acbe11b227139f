// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Encodings of notes")
struct TextReadingTests {
    private static let russian =
        "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний."
    private static let german =
        "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. Öfen, Äpfel, Übel, Maß und Süße."
    private static let japanese = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で泣いていた。"

    private func read(_ text: String, _ encoding: String.Encoding, mark: [UInt8] = []) -> (String, TextReading) {
        TextReading.text(of: mark + [UInt8](text.data(using: encoding)!))
    }

    @Test func byteOrderMarksTell() {
        let text = "Ärger 日本"
        for (encoding, mark, name) in [
            (String.Encoding.utf16LittleEndian, [UInt8]([0xFF, 0xFE]), "UTF-16LE"),
            (.utf16BigEndian, [0xFE, 0xFF], "UTF-16BE"),
            (.utf32LittleEndian, [0xFF, 0xFE, 0, 0], "UTF-32LE"), (.utf32BigEndian, [0, 0, 0xFE, 0xFF], "UTF-32BE"),
        ] {
            let (read, reading) = read(text, encoding, mark: mark)
            #expect(read == text && reading == .encoding(name, replaced: 0))
        }
        let (marked, reading) = read(text, .utf8, mark: [0xEF, 0xBB, 0xBF])
        #expect(marked == text && reading == .utf8)
    }

    @Test func zerosTellOfWideTextWithoutAMark() {
        for (encoding, name) in [(String.Encoding.utf16LittleEndian, "UTF-16LE"), (.utf16BigEndian, "UTF-16BE")] {
            let (text, reading) = read("Words of plain text, and more of them.", encoding)
            #expect(text == "Words of plain text, and more of them." && reading == .encoding(name, replaced: 0))
        }
    }

    /// Texts that another program produced.
    @Test(arguments: [
        (
            russian,
            "0frl+Pwg5uUg5fm4IP3y6PUg7P/j6uj1IPTw4O328+fx6uj1IOHz6+7qLCDk4CDi++/l6SD34P4uINjo8O7q4P8g/evl6vLw6PTo6uD26P8g/ubt+/Ug4/Ph5fDt6Oku"
        ),
        (
            russian,
            "89/F29gg1sUgxd2jINzUycggzdHHy8nIIMbSwc7D1drTy8nIIMLVzM/LLCDEwSDX2dDFyiDewcAuIPvJ0s/LwdEg3MzFy9TSycbJy8HDydEgwNbO2cggx9XCxdLOycou"
        ),
        (
            german,
            "Wnf2bGYgQm94a+RtcGZlciBqYWdlbiBWaWt0b3IgcXVlciD8YmVyIGRlbiBncm/fZW4gU3lsdGVyIERlaWNoLiDWZmVuLCDEcGZlbCwg3GJlbCwgTWHfIHVuZCBT/N9lLg=="
        ),
        (
            japanese,
            "jOGUeYLNlEyCxYKggumBQpa8kU+CzYLcgr6Ws4KigUKCx4KxgsWQtoLqgr2CqYLGgvGCxoypk5aCqoLCgqmCyoFCib2CxYLglJaIw4KigraC34K2gt+CtYK9j4qCxYuDgqKCxIKigr2BQg=="
        ),
        (
            japanese,
            "uOPH2qTPx62kx6SipOuho8y+wbCkz6TepMDMtaSkoaOkyaSzpMfAuKTspL+kq6TIpPOkyLirxfakrKTEpKukzKGjsr+kx6Tix/awxaSkpLik4aS4pOGkt6S/veqkx7XjpKSkxqSkpL+how=="
        ),
    ])
    func otherEncodingsAreGuessed(_ text: String, _ bytes: String) throws {
        #expect(TextReading.text(of: [UInt8](try #require(Data(base64Encoded: bytes)))).text == text)
    }

    @Test(arguments: ["<!-- -*- coding: koi8-r -*- -->", "---\nencoding: KOI8-R\n---", "<meta charset=\"koi8-r\">"])
    func declaredEncodingsAreTaken(_ declaration: String) {
        // Too short for a guess.
        let bytes = [UInt8]((declaration + "\n").utf8) + [0xC4, 0xC1]
        let (text, reading) = TextReading.text(of: bytes)
        #expect(text == declaration + "\nда" && reading == .encoding("KOI8-R", replaced: 0))
    }

    @Test func aBadByteIsReplaced() {
        let (text, reading) = TextReading.text(of: [UInt8]("Größe, Öl, 日本".utf8) + [0xFF] + [UInt8](" last".utf8))
        #expect(text == "Größe, Öl, 日本\u{FFFD} last" && reading == .repaired(replaced: 1))
        let (ascii, _) = TextReading.text(of: [UInt8]("plain words".utf8) + [0xFF] + [UInt8](" last".utf8))
        #expect(ascii.hasPrefix("plain words") && ascii.hasSuffix(" last"))
        let (zero, _) = TextReading.text(of: [UInt8]("plain words with one zero\0 in it, and no more".utf8))
        #expect(zero == "plain words with one zero\u{FFFD} in it, and no more")
    }

    @Test func whatIsNoTextIsSaidAndHasNone() {
        for bytes in [
            [UInt8](repeating: 0, count: 5000), (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 256) },
        ] {
            let (text, reading) = TextReading.text(of: bytes)
            #expect(text.isEmpty && reading == .binary)
        }
        #expect(TextReading.text(of: []).0.isEmpty && TextReading.text(of: []).1 == .utf8)
    }

    @Test(arguments: 0..<Generated.seeds)
    func anyBytesAreRead(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let pieces: [[UInt8]] = [
            [0], [0xFF, 0xFE], [0xC3], [0xC3, 0xA4], [0x80], Array("word ".utf8), Array("\n---\n".utf8),
            [0xE6, 0x97, 0xA5], [0x1B, 0x24, 0x42],
            Array("charset=utf-7 ".utf8), Array("coding: iso-2022-jp ".utf8), [0xF8], [0, 0x41],
        ]
        let bytes = (0..<Int.random(in: 0..<60, using: &random)).flatMap { _ in pieces.randomElement(using: &random)! }
        let (text, reading) = TextReading.text(of: bytes)
        #expect(!text.contains("\0"), "seed \(seed)")
        #expect(reading == .binary || text.isEmpty == bytes.isEmpty || bytes.count < 5, "seed \(seed)")
    }
}
