// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization
import UniformTypeIdentifiers

/// Handles searches from the page. Stores the cursors of the most recent result pages under short
/// keys.
final class SearchHandler: Sendable {
    private let store: any EngineClient
    private let cursors = Mutex(Cursors())

    /// The number of hits on a page.
    static let pageSize = 40
    /// The maximum number of hits that are counted.
    private static let maximumCounted = 1000
    private static let titleCharacters = 200
    private static let snippetCharacters = 180
    /// The attributes that a result shows in addition to its title and snippet.
    private static let attributes: Set<String> = FoundItem.dateAttributes.union([
        "url", "providerDataTypeIdentifiers", "providerFileTypeIdentifiers", "providerInPlaceFileTypeIdentifiers",
    ])

    private struct Cursors {
        var next = 1
        var kept: [(number: Int, search: Key, cursor: SearchCursor)] = []
        /// The maximum number of cursors. Only the most recent results can be continued.
        static let maximum = 16
    }

    /// The search that a result page belongs to.
    private struct Key: Equatable {
        var query: String
        var filters: Filters
        var correctsSpelling: Bool
    }

    init(_ store: any EngineClient) { self.store = store }

    /// The filters of a search.
    struct Filters: Equatable {
        /// The bundle identifier of an app; `nil` for all apps.
        var app: String?
        /// A uniform type identifier; `nil` for all types.
        var kind: String?

        /// Creates filters from the arguments of a page. An empty argument means no filter.
        init(app: String? = nil, kind: String? = nil) {
            if let app, !app.isEmpty { self.app = app }
            if let kind, !kind.isEmpty { self.kind = kind }
        }

        /// Returns the kind as metadata queries.
        func queries() throws(PageFailure) -> [String] {
            guard let kind else { return [] }
            guard kind.isTypeIdentifier else {
                throw PageFailure(400, "A kind must be a uniform type identifier.")
            }
            return ["contentTypeTree == \"\(kind)\""]
        }
    }

    /// Searches, and returns a result page.
    ///
    /// - Parameters:
    ///   - query: The text as typed.
    ///   - filters: The filters that the page adds.
    ///   - correctsSpelling: `true` to correct misspelled words.
    ///   - cursor: The cursor from the reply with the previous page.
    /// - Throws: ``EngineError`` or ``PageFailure``.
    func reply(
        _ query: String, _ filters: Filters, correctsSpelling: Bool, after cursor: String?
    ) async throws -> PageReply {
        let key = Key(query: query, filters: filters, correctsSpelling: correctsSpelling)
        var request = ItemSearch(query, bundle: filters.app)
        request.filters = try filters.queries()
        request.limit = Self.pageSize
        if cursor == nil { request.countsUpTo = Self.maximumCounted }
        request.attributes = Self.attributes
        request.snippetLength = Self.snippetCharacters
        request.findsThumbnails = true
        request.includesPending = false
        request.correctsSpelling = correctsSpelling
        if let cursor {
            guard let place = place(cursor, key) else {
                throw PageFailure(410, "These results have expired. Search again.")
            }
            request.cursor = place
        }
        let page = try await found(request)
        let highlighter = Highlighter(query: page.correction?.text ?? query)
        return .json(
            Report(
                hits: page.hits.map { Hit($0, highlighter) }, next: page.next.map { keep($0, key) }, total: page.total,
                correction: page.correction.map { correction in
                    correction.pieces.map { Piece(text: String($0.text), found: $0.isMarked) }
                }))
    }

    /// Returns suggestions for a text that is being typed.
    ///
    /// - Throws: ``EngineError``.
    func suggestions(for typed: String) async throws(EngineError) -> PageReply {
        var request = SuggestionRequest(typed)
        request.includesPending = false
        let suggestions: [Suggestion]
        do throws(EngineError) {
            suggestions = try await store.suggestions(request)
        } catch {
            guard case .index(.noStore) = error else { throw error }
            suggestions = []
        }
        return .json(
            Suggestions(
                suggestions: suggestions.map {
                    Suggested(
                        kind: $0.kind.rawValue, text: $0.text, count: $0.total?.count, isExact: $0.total?.isExact)
                }))
    }

    private struct Suggestions: Encodable {
        var suggestions: [Suggested]
    }

    private struct Suggested: Encodable {
        var kind: String
        var text: String
        /// The number of items that the text finds. `isExact` is `true` if the number is exact.
        /// Both are `nil` for a filter that has no value yet.
        var count: Int?
        var isExact: Bool?
    }

    /// Searches the store. The result is empty before the first donation.
    private func found(_ search: ItemSearch) async throws(EngineError) -> FoundItems {
        do throws(EngineError) {
            return try await store.find(search)
        } catch {
            guard case .index(.noStore) = error else { throw error }
            return .nothing
        }
    }

    private func place(_ name: String, _ key: Key) -> SearchCursor? {
        cursors.withLock { cursors in cursors.kept.first { "\($0.number)" == name && $0.search == key }?.cursor }
    }

    private func keep(_ cursor: SearchCursor, _ key: Key) -> String {
        cursors.withLock { cursors in
            let number = cursors.next
            cursors.next += 1
            cursors.kept.append((number, key, cursor))
            if cursors.kept.count > Cursors.maximum { cursors.kept.removeFirst() }
            return "\(number)"
        }
    }

    private struct Report: Encodable {
        var hits: [Hit]
        /// The key of the next page.
        var next: String?
        /// The total number of hits; `nil` after the first page.
        var total: SearchTotal?
        /// The corrected text that was searched for, with the changed words marked; `nil` if it was
        /// not corrected.
        var correction: [Piece]?
    }

    private struct Hit: Encodable {
        var id: String
        var title: [Piece]
        var kind: String?
        var icon: String
        var bundle: String
        /// The bundle identifier for the app filter. `type` is the uniform type identifier for the
        /// kind filter, if it has a valid format.
        var app: String
        var type: String?
        var snippet: [Piece]
        /// The date, in seconds since 1970.
        var date: Double?
        /// The URL of the item's thumbnail; `nil` if it has none.
        var thumbnail: String?
        /// The first promised type, for a drag.
        var offer: Offer?
        /// The item's web URL, for drop targets that accept URLs.
        var url: String?
        /// The actions that the item offers: `call`, `navigate`.
        var actions: [QuickAction]

        init(_ hit: FoundItem, _ highlighter: Highlighter) {
            let (item, record) = (hit.item, hit.item.record)
            id = "\(item.number)"
            actions = hit.actions
            title = Piece.pieces(of: DisplayText.line(hit.title, limit: titleCharacters), highlighter)
            kind = hit.kindName.map { DisplayText.line($0, limit: titleCharacters) }
            icon = TypeIcon.name(for: hit.contentType)
            app = item.scope.bundle
            type = hit.contentType.flatMap { $0.isTypeIdentifier ? $0 : nil }
            bundle = DisplayText.line(hit.bundleName, limit: titleCharacters)
            snippet = (hit.snippet?.pieces ?? []).map { Piece(text: String($0.text), found: $0.isMarked) }
            date = hit.date.map { $0 + Date.timeIntervalBetween1970AndReferenceDate }
            thumbnail = hit.hasThumbnail == true ? "thumbnail/\(item.number)" : nil
            offer = record.promisedRepresentations.first.map { Offer($0.type, of: item.number, title: hit.title) }
            url = record.text("url").flatMap { URL(string: $0) }
                .flatMap { ["http", "https"].contains($0.scheme?.lowercased()) ? $0.absoluteString : nil }
        }
    }
}

extension String {
    /// `true` if the text has the format of a uniform type identifier: at least two parts of ASCII
    /// letters, digits and hyphens.
    fileprivate var isTypeIdentifier: Bool {
        let parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1 && utf8.count <= 256
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                    }
            }
    }
}

/// A piece of text. `found` is `true` if it matches the search.
struct Piece: Encodable {
    var text: String
    var found: Bool

    static func pieces(of text: String, _ highlighter: Highlighter) -> [Piece] {
        highlighter.pieces(of: text).map { Piece(text: String($0.text), found: $0.isHighlight) }
    }
}

/// A promised file that the page offers. The file is created when its URL is requested.
struct Offer: Encodable {
    var type: String
    /// The user-visible name of the type.
    var name: String
    /// The media type.
    var media: String
    var file: String
    var url: String

    init(_ type: String, of item: StoredItem) { self.init(type, of: item.number, title: item.displayTitle) }

    init(_ type: String, of number: Int64, title: String) {
        self.type = type
        name = DisplayText.line(UTType(type)?.localizedDescription ?? type, limit: 80)
        media = DownloadName.mediaType(of: type)
        file = DownloadName.suggested(title: title, type: type)
        let escaped = type.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        url = "promise/\(number)?type=\(escaped)"
    }

    /// Creates an offer for a preview's content, which may match no promise.
    init(preview type: String, of item: StoredItem, url: String) {
        self.init(type, of: item)
        name = "Preview, as \(name)"
        self.url = url
    }
}

/// The icons for types in the page.
enum TypeIcon {
    private static let icons: [(type: String, icon: String)] = [
        ("public.image", "image"), ("public.audio", "audio"), ("public.movie", "movie"), ("com.adobe.pdf", "pdf"),
        ("public.email-message", "mail"), ("public.message", "mail"), ("public.contact", "person"),
        ("public.calendar-event", "calendar"), ("public.to-do-item", "calendar"),
        ("com.apple.web-internet-location", "link"),
        ("public.url", "link"), ("public.html", "link"), ("public.folder", "folder"), ("public.archive", "archive"),
        ("public.source-code", "code"), ("public.script", "code"), ("public.bookmark", "link"), ("public.text", "text"),
    ]

    static func name(for type: String?) -> String {
        guard let type, let known = UTType(type) else { return "document" }
        return icons.first { pair in UTType(pair.type).map { known.conforms(to: $0) } ?? false }?.icon ?? "document"
    }
}
