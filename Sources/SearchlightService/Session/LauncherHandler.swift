// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Previews
import SearchIndex
import SearchlightEngine
import ServiceMessages
import UserSearch

/// Handles the launchers' calls: the interface `com.searchlight.Search1`.
final class LauncherHandler: Sendable {
    private let limits: ServiceLimits
    private let requests: ClientRequests
    private let opening: LauncherOpening

    /// The maximum size of a reply in bytes. A launcher shows few items, and the bus limits the
    /// size of messages.
    static let maximumAnswerBytes = 8 << 20

    init(_ core: ServiceCore) {
        limits = core.limits
        opening = LauncherOpening(core.activities)
        requests = ClientRequests(core.engine, .moment, maximum: core.limits.queries)
    }

    func take(_ request: LauncherRequest, _ call: IncomingCall) {
        requests.answer(call) { [limits, opening] (engine) throws(QueryRefusal) in
            switch request {
            case .open(let number, let options):
                return [.dictionary(try await opening.open(try await Self.item(number, engine), options, engine))]
            case .continueSearch(let bundle, let text, let options):
                return [.dictionary(try await opening.continueSearch(text, in: bundle, options, engine))]
            default: return try await Self.answer(request, engine, limits)
            }
        }
    }

    func cancelAll() { requests.cancelAll() }

    private static func answer(
        _ request: LauncherRequest, _ engine: SearchlightEngine, _ limits: ServiceLimits
    ) async throws(QueryRefusal) -> [BusValue] {
        switch request {
        case .search(let text, let options): return [try await search(text, options, engine, limits)]
        case .similar(let number, let options): return try await similar(number, options, engine, limits)
        case .suggest(let text, let options): return [try await suggest(text, options, engine)]
        case .get(let number):
            let item = try await item(number, engine)
            return [try checked(.dictionary(LauncherItem.all(of: item)))]
        case .preview(let number, let query):
            let preview = try await preview(number, query, engine)
            return [
                .string(text: preview.contentType), .string(text: preview.title), try checked(.bytes(preview.content)),
            ]
        case .previewFile(let number, let query):
            let preview = try await preview(number, query, engine)
            do throws(EngineError) {
                let file = try Payload.file(holding: preview.content, for: "preview an item")
                return [
                    .string(text: preview.contentType), .string(text: preview.title), .descriptor(file),
                    .unsigned(UInt64(preview.content.count)),
                ]
            } catch {
                throw QueryRefusal(error)
            }
        case .getPreview(let number, let query):
            let preview = try await preview(number, query, engine)
            // 64 KiB are reserved for the other fields.
            let values = LauncherPreview.all(of: preview, maximumBytes: maximumAnswerBytes - (64 << 10))
            return [try checked(.dictionary(values))]
        case .whyNot(let number, let text, let options):
            return [try checked(.dictionary(try await diagnosis(number, text, options, engine)))]
        case .open, .continueSearch: throw .cancelled
        case .engaged(let number, let text, let kind):
            return [.boolean(try await engaged(number, text, kind, engine))]
        }
    }

    private static func diagnosis(
        _ number: UInt64, _ text: String, _ options: LauncherOptions, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> [String: BusValue] {
        var search = ItemSearch(text, bundle: options.bundle)
        search.limit = Int(clamping: options.limit)
        search.correctsSpelling = options.correctsSpelling
        search.includesPending = false
        do throws(EngineError) {
            guard let item = Int64(exactly: number) else { throw .itemNotFound("@\(number)") }
            return LauncherDiagnosis.all(of: try await engine.diagnose(search, item: item))
        } catch .itemNotFound {
            throw .noItem(number)
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// The kinds of use that a launcher may report.
    private static let kinds: [EngagementKind] = [.open, .drag, .preview]

    private static func engaged(
        _ number: UInt64, _ text: String, _ kind: String, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> Bool {
        guard let kind = kinds.first(where: { $0.rawValue == kind }) else { throw .kind(kind, of: kinds) }
        guard let item = Int64(exactly: number) else { return false }
        do throws(EngineError) {
            return try await engine.countEngagement([Engagement(item: item, text: text, kind: kind)]) > 0
        } catch {
            throw QueryRefusal(error)
        }
    }

    private static func search(
        _ text: String, _ options: LauncherOptions, _ engine: SearchlightEngine, _ limits: ServiceLimits
    ) async throws(QueryRefusal) -> BusValue {
        guard options.attributes.count <= limits.attributes else {
            throw .limit("attributes", options.attributes.count, limits.attributes)
        }
        let page = QueryPageRequest(
            text: text, filters: [], attributes: options.attributes, cursor: options.cursor, limit: options.limit)
        let query = PageCursor.Query(kind: "Launcher", bundle: options.bundle ?? "", page)
        var request = ItemSearch(text, bundle: options.bundle)
        request.cursor = try PageCursor.searchCursor(options.cursor, of: query, maximumHits: limits.searchHits)
        request.limit = Int(max(1, min(options.limit, UInt64(limits.pageItems))))
        request.attributes = Set(options.attributes)
        request.correctsSpelling = options.correctsSpelling
        request.snippetLength = LauncherItem.snippetLength
        // A launcher searches after each keystroke, so the search does not wait for pending
        // donations.
        request.includesPending = false
        let found: FoundItems
        do throws(EngineError) { found = try await engine.find(request) } catch { throw QueryRefusal(error) }
        var items = found.hits.map { LauncherItem.found($0, hasAttributes: !options.attributes.isEmpty) }
        if let next = found.next, let last = items.indices.last,
            let cursor = PageCursor.bytes(next, of: query, maximumHits: limits.searchHits)
        {
            items[last]["cursor"] = .bytes(cursor)
        }
        if let correction = found.correction, let last = items.indices.last {
            items[last]["correction"] = .string(text: correction.text)
        }
        if let pending = found.pending?.total, let last = items.indices.last {
            items[last]["pending"] = .dictionary(LauncherItem.pending(pending))
        }
        return try checked(.dictionaries(items))
    }

    private static func similar(
        _ number: UInt64, _ options: LauncherOptions, _ engine: SearchlightEngine, _ limits: ServiceLimits
    ) async throws(QueryRefusal) -> [BusValue] {
        guard options.attributes.count <= limits.attributes else {
            throw .limit("attributes", options.attributes.count, limits.attributes)
        }
        if let problem = SimilarItems.problem(ofFilters: options.filters, at: 0) {
            throw QueryRefusal(name: ServiceErrorName.invalidQuery, message: problem)
        }
        var search = ItemSearch(options.filters, bundle: options.bundle)
        search.limit = Int(max(1, min(options.limit, UInt64(limits.pageItems))))
        search.attributes = Set(options.attributes)
        search.snippetLength = LauncherItem.snippetLength
        search.includesPending = false
        let found: SimilarItems
        do throws(EngineError) {
            guard let item = Int64(exactly: number) else { throw .itemNotFound("@\(number)") }
            found = try await engine.similar(to: item, search)
        } catch .itemNotFound {
            throw .noItem(number)
        } catch {
            throw QueryRefusal(error)
        }
        var answer: [String: BusValue] = [
            "basis": .string(found.basis.rawValue), "isPartial": .boolean(found.isPartial),
        ]
        if let advice = found.advice { answer["advice"] = .string(text: advice) }
        let items = found.hits.map { LauncherItem.found($0, hasAttributes: !options.attributes.isEmpty) }
        return [try checked(.dictionaries(items)), .dictionary(answer)]
    }

    private static func suggest(
        _ text: String, _ options: LauncherOptions, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> BusValue {
        var request = SuggestionRequest(text, bundle: options.bundle)
        request.limit = Int(clamping: options.limit)
        // A launcher requests suggestions after each keystroke, so they do not wait for pending
        // donations.
        request.includesPending = false
        do throws(EngineError) {
            return .dictionaries(
                try await engine.suggestions(request).map { suggestion in
                    var values: [String: BusValue] = [
                        "kind": .string(suggestion.kind.rawValue), "text": .string(text: suggestion.text),
                    ]
                    if let total = suggestion.total {
                        values["count"] = .unsigned(UInt64(clamping: total.count))
                        values["isExact"] = .boolean(total.isExact)
                    }
                    return values
                })
        } catch {
            throw QueryRefusal(error)
        }
    }

    private static func item(_ number: UInt64, _ engine: SearchlightEngine) async throws(QueryRefusal) -> StoredItem {
        do throws(EngineError) {
            let item = try await engine.item(named: "@\(number)", bundle: nil)
            // The name may also be the unique identifier of another item.
            guard UInt64(exactly: item.number) == number else { throw .itemNotFound("@\(number)") }
            return item
        } catch .itemNotFound {
            throw .noItem(number)
        } catch {
            throw QueryRefusal(error)
        }
    }

    private static func preview(
        _ number: UInt64, _ query: String, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> Preview {
        let item = try await item(number, engine)
        do throws(EngineError) {
            return try await engine.preview(of: item, query: query.isEmpty ? nil : query)
        } catch {
            throw QueryRefusal(error)
        }
    }

    private static func checked(_ value: BusValue) throws(QueryRefusal) -> BusValue {
        guard value.approximateBytes <= maximumAnswerBytes else {
            throw QueryRefusal(
                name: BusErrorName.limitsExceeded,
                message: """
                    The answer has about \(value.approximateBytes) bytes; the limit is \(maximumAnswerBytes). Request \
                    fewer items or attributes, or a preview as a file.
                    """)
        }
        return value
    }
}

extension QueryRefusal {
    /// Returns the error for an unknown item number.
    fileprivate static func noItem(_ number: UInt64) -> QueryRefusal {
        QueryRefusal(
            name: ExtensionStatus.notFound.errorName, message: EngineError.itemNotFound("@\(number)").description)
    }
}
