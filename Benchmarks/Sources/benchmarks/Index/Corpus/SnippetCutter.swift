// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Cuts the paragraphs of documents into snippets as long as an item, each with a title and a text.
struct SnippetCutter {
    /// Receives each snippet, without tabs and line ends.
    private let emit: (_ title: [UInt8], _ text: [UInt8]) throws -> Void
    private var generator = SplitMix64(seed: 1)
    private var words: [UInt8] = []
    private var wanted = 0
    private var titleLength = 0
    private var known: Set<Int> = []

    private static let longestWord = 40

    init(emit: @escaping (_ title: [UInt8], _ text: [UInt8]) throws -> Void) {
        self.emit = emit
        drawLengths()
    }

    private mutating func drawLengths() {
        titleLength = 22 + generator.below(44)
        wanted = titleLength + 100 + generator.below(392)
    }

    mutating func add(_ document: [UInt8], _ markup: TextSources.Markup) throws {
        for paragraph in PlainText.paragraphs(of: document, markup) where Self.isProse(paragraph) {
            for word in paragraph.split(whereSeparator: { $0 <= 0x20 || $0 == 0x7F })
            where word.count <= Self.longestWord {
                if !words.isEmpty { words.append(0x20) }
                words += word
                if words.count >= wanted { try cut() }
            }
        }
        if words.count >= titleLength + 100 { try cut() }
        words.removeAll(keepingCapacity: true)
    }

    private mutating func cut() throws {
        let space = words[titleLength...].firstIndex(of: 0x20) ?? titleLength
        let title = Array(words[..<space])
        let text = Array(words[space...].dropFirst())
        // An FNV-1a hash, which is the same in every process, unlike `Hasher`.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let isText = String(validating: words, as: UTF8.self) != nil
        if isText, !text.isEmpty, known.insert(Int(truncatingIfNeeded: hash)).inserted { try emit(title, text) }
        words.removeAll(keepingCapacity: true)
        drawLengths()
    }

    /// Returns `true` if most characters are letters; otherwise the paragraph is a table, code, or
    /// a list of numbers.
    private static func isProse(_ paragraph: [UInt8]) -> Bool {
        guard paragraph.count >= 20 else { return false }
        var letters = 0
        var others = 0
        for byte in paragraph {
            switch byte {
            case 0x41...0x5A, 0x61...0x7A, 0x80...: letters += 1
            case 0...0x20: break
            default: others += 1
            }
        }
        return letters > others * 4
    }
}
