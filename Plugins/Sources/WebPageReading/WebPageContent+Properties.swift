// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension WebPageContent {
    private static let maximumList = 100

    /// Reads a page's properties: JSON-LD first, then microdata, Open Graph and the others.
    mutating func takeProperties(_ visitor: PageVisitor, _ html: HTMLText) {
        var thing = PageProperties(jsonLD: visitor.jsonLD)
        thing.complete(with: visitor.microdata)
        func meta(_ names: String...) -> String? { names.lazy.compactMap { visitor.metadata[$0]?.first }.first }
        func metas(_ name: String) -> [String] { visitor.metadata[name] ?? [] }

        let heading = html.blocks.first { $0.level == 1 }?.text
        title =
            [
                thing.first("headline", "name"), meta("og:title", "twitter:title"), html.title, heading,
            ].lazy.compactMap { $0.flatMap(Self.line) }.first
        description =
            [
                thing.first("description", "abstract"), meta("og:description", "description", "twitter:description"),
            ].lazy.compactMap { $0.map { $0.summary(maximumCharacters: 300) } }.first
        authors = Self.list(
            thing.all("author.name", "author", "creator.name", "byArtist.name", "director.name")
                + metas("author") + metas("article:author") + metas("dc.creator") + metas("citation_author"))
        publishers = Self.list(thing.all("publisher.name", "publisher", "brand.name") + metas("dc.publisher"))
        keywords = Self.list(
            (thing.all("keywords") + metas("keywords")).flatMap { $0.split { $0 == "," || $0 == ";" }.map(String.init) }
                + metas("article:tag") + thing.all("recipeCategory", "articleSection", "genre"))
        site =
            [meta("og:site_name", "application-name"), publishers.first].lazy.compactMap { $0.flatMap(Self.line) }.first
        published = (thing.first("datePublished", "uploadDate") ?? meta("article:published_time", "dc.date")).flatMap(
            PageDate.web)
        modified = (thing.first("dateModified") ?? meta("article:modified_time", "og:updated_time")).flatMap(
            PageDate.web)
        starts = thing.first("startDate").flatMap(PageDate.web)
        // A last day counts to its end.
        ends = thing.first("endDate").flatMap { text in PageDate.web(text).map { text.contains(":") ? $0 : $0 + 86_399 }
        }
        duration = thing.first("duration", "totalTime").flatMap(PageDate.duration)
        type = thing.first("@type") ?? meta("og:type").flatMap { $0 == "website" ? nil : Self.line($0) }
        takeRating(thing)
        takeOffer(thing)
        takePlace(thing)
        takeAddresses(visitor, thing, meta("og:url"))
    }

    private mutating func takeRating(_ thing: PageProperties) {
        guard let value = thing.number("aggregateRating.ratingValue") ?? thing.number("reviewRating.ratingValue") else {
            return
        }
        let best = thing.number("aggregateRating.bestRating") ?? thing.number("reviewRating.bestRating") ?? 5
        if best > 0, (0...best).contains(value) { rating = value / best * 5 }
    }

    private mutating func takeOffer(_ thing: PageProperties) {
        guard let amount = thing.first("offers.price", "offers.lowPrice") else { return }
        price = Self.line([amount, thing.first("offers.priceCurrency")].compactMap { $0 }.joined(separator: " "))
    }

    private mutating func takePlace(_ thing: PageProperties) {
        // A place itself, or the location of an event.
        let isEvent = !thing.all("location.name", "location.address", "location.address.addressLocality", "location")
            .isEmpty
        let path = isEvent ? "location." : ""
        place.name = isEvent ? thing.first("location.name", "location").flatMap(Self.line) : nil
        let parts = ["streetAddress", "postalCode", "addressLocality", "addressCountry"]
        let address = parts.compactMap { thing.first(path + "address." + $0) }.joined(separator: ", ")
        place.address = Self.line(address) ?? thing.first(path + "address").flatMap(Self.line)
        place.city = thing.first(path + "address.addressLocality").flatMap(Self.line)
        place.country = thing.first(path + "address.addressCountry", path + "address.addressCountry.name").flatMap(
            Self.line)
        if let latitude = thing.number(path + "geo.latitude"), let longitude = thing.number(path + "geo.longitude"),
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        {
            (place.latitude, place.longitude) = (latitude, longitude)
        }
        phoneNumbers = Self.list(thing.all(path + "telephone", "telephone"))
    }

    private mutating func takeAddresses(_ visitor: PageVisitor, _ thing: PageProperties, _ graph: String?) {
        // The URL that the saving program recorded is where the page was, but its canonical URL is
        // better.
        let base = address
        let named = [visitor.canonical, graph, thing.first("url", "mainEntityOfPage", "mainEntityOfPage.@id")]
        address = named.lazy.compactMap { $0.flatMap { WebPageFile.webAddress($0, relativeTo: base) } }.first ?? base
        let names = [
            "al:ios:url", "al:android:url", "al:web:url", "al:iphone:url", "al:ipad:url", "al:windows_phone:url",
        ]
        let arguments = (visitor.metadata["apple-itunes-app"] ?? []).compactMap { value in
            value.split(separator: ",").first { $0.trimmed.hasPrefix("app-argument=") }
                .map { String($0.trimmed.dropFirst("app-argument=".count)) }
        }
        let all = names.flatMap { visitor.metadata[$0] ?? [] } + arguments + visitor.appAddresses
        var seen: Set<String> = []
        for text in all where text.utf8.count <= 4096 && appLinks.count < PageVisitor.maximumAppLinks {
            guard let url = URL(string: text.trimmed), let scheme = url.scheme?.lowercased(), !Self.isUnsafe(scheme),
                seen.insert(url.absoluteString).inserted
            else { continue }
            appLinks.append(url)
        }
    }

    /// Schemes that name a file or a program instead of an app.
    private static func isUnsafe(_ scheme: String) -> Bool {
        ["file", "javascript", "data", "about", "blob"].contains(scheme)
    }

    /// Returns one line; nil for a text without letters and digits.
    static func line(_ text: String) -> String? {
        let line = text.summary(maximumCharacters: 200)
        return line.contains { $0.isLetter || $0.isNumber } ? line : nil
    }

    /// Returns the distinct lines, in order.
    private static func list(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        let lines = texts.prefix(1_000).compactMap { line($0) }.filter {
            !$0.hasPrefix("http") && seen.insert($0).inserted
        }
        return Array(lines.prefix(maximumList))
    }
}
