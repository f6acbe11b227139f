// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import benchmarks

@Suite struct CorpusTests {
    private func maker(seed: UInt64, in folder: TemporaryFolder) throws -> CorpusMaker {
        let lines = (0..<100).map { "Title \($0)\tFirst sentence of \($0). Second one, about mountains of \($0).\n" }
        let path = try folder.write(Array(lines.joined().utf8), to: "snippets")
        return try CorpusMaker(snippets: try SnippetFile(path: path), seed: seed)
    }

    @Test func equalSeedsGiveEqualItems() throws {
        let folder = try TemporaryFolder()
        let one = try maker(seed: 1, in: folder)
        let same = try maker(seed: 1, in: folder)
        let other = try maker(seed: 2, in: folder)
        #expect((0..<300).allSatisfy { one.item($0).record == same.item($0).record })
        #expect((0..<300).contains { one.item($0).record != other.item($0).record })
    }

    @Test func everyRealSnippetIsUsedOnceBeforeSentencesAreRecombined() throws {
        let folder = try TemporaryFolder()
        let maker = try maker(seed: 3, in: folder)
        let titles = (0..<100).map { maker.item($0).record.text("title") ?? "" }
        #expect(Set(titles) == Set((0..<100).map { "Title \($0)" }))
        let texts = (0..<1_000).map { maker.item($0).record.text("textContent") ?? "" }
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.contains("sentence") || $0.contains("mountains") })
    }

    @Test func aCorpusIsReadAsItWasMade() throws {
        let folder = try TemporaryFolder()
        let maker = try maker(seed: 4, in: folder)
        _ = try folder.write(try folder.read("snippets"), to: "snippets.v1")
        let corpus = try Corpus(count: 50, seed: 4, folder: folder.path)
        #expect(corpus.realCount == 50)
        let records = try corpus.records(at: [0, 7, 49])
        for (place, found) in zip([0, 7, 49], records) {
            #expect(found.record == maker.item(place).record)
            #expect(found.bundle == maker.item(place).bundle)
        }
    }

    @Test func theFirstBundleIsTheCommonest() throws {
        let maker = try maker(seed: 5, in: try TemporaryFolder())
        var counts = [Int](repeating: 0, count: CorpusMaker.bundleCount)
        for number in 0..<2_000 { counts[maker.item(number).bundle] += 1 }
        #expect(counts[0] == counts.max())
        #expect(counts[0] > counts[9] * 4)
    }
}
