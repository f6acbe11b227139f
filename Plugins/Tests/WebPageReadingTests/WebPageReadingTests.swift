// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import WebPageReading

/// Saved pages that a script generates.
@Suite("Reading web pages")
struct WebPageReadingTests {
    private static let samples = Result { try SampleDocuments(.ordinary, by: "make-webpages") }

    private func content(_ name: String) throws -> WebPageContent {
        try #require(try WebPageFile(contentsOf: Self.samples.get()[name])).content()
    }

    private func date(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }

    @Test func articleOfSingleFileHasItsPropertiesAndCanonicalAddress() throws {
        let content = try content("ferry.html")
        #expect(content.title == "New ferry for the reef" && content.description == "It sails at nine")
        #expect(content.authors == ["Ada Quill", "Ben Mast"] && content.publishers == ["Reef Media"])
        #expect(content.keywords == ["ferry", "harbour", "sea", "Traffic"] && content.site == "Reef News")
        #expect(content.type == "NewsArticle" && content.language == "en" && content.problem == nil)
        #expect(content.published == date("2026-11-20T08:00:00Z") && content.modified == date("2026-11-21T00:00:00Z"))
        #expect(content.kept == date("2026-11-27T09:30:00Z"))
        #expect(content.address?.absoluteString == "https://reef.example/news/ferry")
        #expect(
            content.appLinks.map(\.absoluteString) == [
                "reefnews://story/7", "https://reef.example/news/ferry",
                "android-app://example.reef/https/reef.example/news/ferry",
            ])
        #expect(content.text == "New ferry\nThe ferry sails at nine." && content.picture?.contentType == "public.png")
    }

    @Test func recipeEventAndPlaceHaveTheirProperties() throws {
        let recipe = try content("soup.html")
        #expect(
            recipe.title == "Fish soup" && recipe.duration == 5400 && recipe.rating == 4.5
                && recipe.keywords == ["Soup"])
        #expect(recipe.address?.absoluteString == "https://galley.example/soup" && recipe.type == "Recipe")
        let event = try content("shanty.HTM")
        #expect(event.starts == date("2026-12-05T19:00:00Z") && event.ends == date("2026-12-05T22:00:00Z"))
        #expect(event.place.name == "Old Pier" && event.place.address == "Quay 1, 20457, Hamburg, DE")
        #expect(event.place.latitude == 53.5 && event.place.longitude == 9.99 && event.place.city == "Hamburg")
        let shop = try content("bakery.html")
        #expect(shop.title == "Harbour bakery" && shop.phoneNumbers == ["+49 40 123456"])
        #expect(shop.place.address == "Quay 3, Hamburg" && shop.place.name == nil)
        #expect(shop.address?.absoluteString == "https://harbour.example/bakery")
    }

    @Test func microdataHasThePropertiesOfTheFirstThing() throws {
        let content = try content("rope.html")
        #expect(content.title == "Rope, twenty metres" && content.description == "Holds a boat")
        #expect(content.publishers == ["Knotty"] && content.price == "19.50 EUR" && content.type == "Product")
        #expect(content.address?.absoluteString == "https://shop.example/rope")
    }

    @Test func openGraphServesAPageWithoutStructuredData() throws {
        let film = try content("film.html")
        #expect(film.title == "A film" && film.description == "About whales" && film.authors == ["Gil Reel"])
        #expect(film.address?.absoluteString == "https://films.example/whale" && film.type == "video.movie")
        let paper = try content("citation.html")
        #expect(paper.authors == ["Fay, L."] && paper.published == date("2020-05-01T00:00:00Z"))
    }

    @Test func otherThingsOfSchemaOrgHaveTheirProperties() throws {
        let video = try content("video.html")
        #expect(video.title == "Seals" && video.duration == 125 && video.published == date("2026-01-02T00:00:00Z"))
        let book = try content("book.html")
        #expect(book.authors == ["Dee Coral"] && book.keywords == ["Novel"])
        #expect(try content("song.html").authors == ["The Gulls"])
        #expect(try content("only.html").description == "Who we are")
        #expect(try content("broken.html").title == "After the break")
    }

    @Test func browsersCommentHasTheAddress() throws {
        let content = try content("tide.htm")
        #expect(content.address?.absoluteString == "https://tide.example/table.html" && content.title == "Tide table")
    }

    @Test func encodingsAreRead() throws {
        #expect(try content("latin.html").text == "Tides\nHigh at Flut, Möwe")
        #expect(try content("wide.html").text == "Tides\nHigh at noon")
        #expect(try content("page.xhtml").title == "Tide table")
        #expect(try content("untitled.html").title == nil)
    }

    @Test func addressesThatAreNotOfTheWebAreIgnored() throws {
        let content = try content("script.html")
        #expect(content.address == nil && content.title == "Sly" && content.appLinks == [])
    }

    @Test func archiveHasItsPageAddressDateAndPicture() throws {
        for name in ["faehre.mhtml", "kai.mht", "plain.mhtml"] {
            let content = try content(name)
            #expect(content.text == "Die Fähre legt ab." && content.problem == nil, "\(name)")
            #expect(content.address?.absoluteString == "https://kai.example/faehre", "\(name)")
            #expect(
                content.kept == date("2026-11-27T08:00:00Z") && content.picture?.contentType == "public.png", "\(name)")
        }
        #expect(try content("faehre.mhtml").title == "Fähre am Kai")
        let light = try content("light.mht")
        #expect(light.title == "Lighthouse" && light.text == "Lighthouse\nIt turns.")
        #expect(light.address?.absoluteString == "https://light.example/tower" && light.picture != nil)
        #expect(try content("single.mht").text == "A single part")
    }

    @Test(arguments: [
        ("=?utf-8?Q?caf=C3=A9?=", "café"), ("=?ISO-8859-1?q?M=F6we_7?= here", "Möwe 7 here"),
        ("plain = text?", "plain = text?"),
        ("=?utf-8?B?YQ==?= =?utf-8?B?Yg==?=", "ab"), ("=?utf-8?Q?open", "=?utf-8?Q?open"), ("", ""),
    ])
    func encodedWordsAreDecoded(_ header: String, _ text: String) { #expect(PageArchive.decoded(header) == text) }

    @Test(arguments: [
        ("PT1H30M", 5400.0), ("P1DT1S", 86_401), ("PT2.5M", 150), ("P1W", 604_800), ("PT", nil), ("1H", nil),
        ("P1M", nil), ("PT5", nil),
    ])
    func durationIsInSeconds(_ text: String, _ seconds: Double?) { #expect(PageDate.duration(text) == seconds) }

    @Test func previewHasThePropertiesAndNoScript() throws {
        let file = try #require(try WebPageFile(contentsOf: Self.samples.get()["shanty.HTM"]))
        let (content, blocks) = try file.read()
        let locale = Locale(identifier: "en_GB")
        let page = file.html(content, blocks, picture: "cid:picture", locale: locale)
        #expect(page.contains("5 Dec 2026 · Old Pier") && page.contains("cid:picture"), "\(page)")
        var longer = content
        longer.ends = content.starts?.addingTimeInterval(86400)
        #expect(file.html(longer, blocks, locale: locale).contains("5 Dec 2026 – 6 Dec 2026 · Old Pier"))
        #expect(!page.contains("<script"))
    }
}
