// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport

/// Creates items from snippets. Equal snippets, seeds and numbers give equal items.
struct CorpusMaker {
    static let bundleCount = 40
    static let projectCount = 200
    static let contentTypes = [
        "public.plain-text", "public.html", "net.daringfireball.markdown", "com.adobe.pdf", "public.rtf",
        "public.email-message", "public.jpeg", "public.mpeg-4-audio", "public.swift-source", "public.vcard",
    ]
    /// The range of dates: five years from 2021-01-01, in seconds since 2001.
    private static let dates = (start: 631_152_000.0, length: 157_766_400)

    let snippets: SnippetFile
    let seed: UInt64
    /// The snippet indices, in the order of the items.
    private let order: [Int]
    /// The cumulative frequencies of the bundles: the k-th bundle has 1/k of the first bundle's
    /// frequency (Zipf's law).
    private let bundleShares: [Double]

    init(snippets: SnippetFile, seed: UInt64) throws {
        guard snippets.count >= 100 else {
            throw BenchmarkError(
                "Only \(snippets.count) snippets of text were found. Install some documentation: it is read from "
                    + "/usr/share/doc, /usr/share/man, /usr/lib/python3 and /usr/include.")
        }
        self.snippets = snippets
        self.seed = seed
        var generator = SplitMix64(seed: seed)
        order = Array(0..<snippets.count).shuffled(using: &generator)
        var sum = 0.0
        bundleShares = (1...Self.bundleCount).map { rank in
            sum += 1 / Double(rank)
            return sum
        }
    }

    static func bundle(_ number: Int) -> String { "com.example.app\(number)" }

    /// Returns an item and the number of its bundle.
    func item(_ number: Int) -> (bundle: Int, record: ItemRecord) {
        var generator = SplitMix64(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
        let (title, text) = number < order.count ? snippets[order[number]] : recombined(&generator)
        let place = Double(generator.below(1 << 30)) / Double(1 << 30) * (bundleShares.last ?? 1)
        let bundle = bundleShares.firstIndex { place < $0 } ?? 0
        var attributes: [String: AttributeValue] = [
            "title": .string(title), "textContent": .string(text),
            "contentType": .string(generator.pick(Self.contentTypes)),
            "contentCreationDate": .date(Self.dates.start + Double(generator.below(Self.dates.length))),
            "com_example_project": .string("project-\(generator.below(Self.projectCount))"),
            "com_example_rating": .integer(Int64(generator.below(1000))),
        ]
        let words = text.split(separator: " ").filter { $0.utf8.count > 4 && $0.allSatisfy(\.isLetter) }
        let keywords = words.isEmpty ? [] : (0..<generator.below(5)).map { _ in generator.pick(words).lowercased() }
        if !keywords.isEmpty { attributes["keywords"] = .array(keywords.map { .string($0) }) }
        if generator.below(10) < 3 { attributes["contentDescription"] = .string(Self.beginning(of: text, bytes: 80)) }
        let record = ItemRecord(
            uniqueIdentifier: "item-\(number)", domainIdentifier: "notes.\(generator.below(10))", expiration: .never,
            attributes: attributes)
        return (bundle, record)
    }

    /// Returns a new snippet that is made of sentences from other snippets; used after the real
    /// ones.
    private func recombined(_ generator: inout SplitMix64) -> (title: String, text: String) {
        let wanted = 100 + generator.below(392)
        var text = ""
        while text.utf8.count < wanted {
            let sentences = snippets[generator.below(snippets.count)].text.split(separator: ". ")
            guard !sentences.isEmpty else { continue }
            if !text.isEmpty { text += ". " }
            text += generator.pick(sentences)
        }
        let titles = (0..<2).map { _ in snippets[generator.below(snippets.count)].title.split(separator: " ") }
        let title = titles[0].prefix((titles[0].count + 1) / 2) + titles[1].suffix(titles[1].count / 2)
        return (title.joined(separator: " "), Self.beginning(of: text, bytes: wanted))
    }

    /// Returns the first words, about `bytes` bytes in total.
    private static func beginning(of text: String, bytes: Int) -> String {
        guard text.utf8.count > bytes,
            let end = text.utf8[text.utf8.index(text.startIndex, offsetBy: bytes)...].firstIndex(of: 0x20)
        else { return text }
        return String(text[..<end])
    }
}
