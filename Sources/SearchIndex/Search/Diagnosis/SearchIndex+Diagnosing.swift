// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import UserSearch

extension SearchIndex {
    /// Explains why an item is on the first page of a search, or why it is not.
    ///
    /// Takes as long as several searches for ``SearchDiagnosis/maximumRank`` hits.
    ///
    /// - Parameters:
    ///   - request: The search; its limit is the page size. The request's cursor and attributes are
    ///     ignored.
    ///   - number: The number of the item, which may have expired.
    /// - Returns: The diagnosis; `nil` if there is no such item.
    /// - Throws: ``IndexQueryError``; `cancelled` soon after the task is cancelled.
    public func diagnose(
        _ request: SearchRequest, item number: Int64
    ) async throws(IndexQueryError) -> SearchDiagnosis? {
        let (text, readsBareDates) = (request.text, request.readsBareDates)
        var request = request
        request.cursor = nil
        request.attributes = ["title", "displayName"]
        request.limit = max(1, min(SearchDiagnosis.maximumRank, request.limit))
        // Counts up to one more, to see whether there are more.
        request.countsUpTo = SearchDiagnosis.maximumRank + 1
        let page: SearchPage
        (page, request) = try await answer(to: request)
        request.countsUpTo = nil
        // The search above already waited for pending donations.
        request.includesPending = false
        // The item is compared with the corrected words.
        if let correction = page.correction { request.text = correction.text }
        let prepared = try PreparedSearch(self, request)
        let (wanted, context) = (request, queryContext())
        let compared = try await query("Diagnosing a search", includingPending: false) { [clock] db in
            try Comparison(wanted, prepared, item: number, context, present: clock.now(db), db)
        }
        guard let compared else { return nil }
        var diagnosis = SearchDiagnosis(
            item: compared.item, text: text, limit: request.limit, outcome: .shown, words: compared.words,
            conditions: compared.conditions, correction: page.correction,
            lastShown: page.hits.last.map(SearchDiagnosis.RankedItem.init),
            total: SearchDiagnosis.total(of: page), pending: page.pending)
        diagnosis.hit = compared.hit
        try await rank(&diagnosis, among: page, request, isSearch: prepared != nil)
        guard diagnosis.outcome != .shown, compared.hasNotExpired else { return diagnosis }
        diagnosis.suggestions = try await suggestions(
            for: diagnosis, compared.texts, request, readsBareDates: readsBareDates)
        return diagnosis
    }

    /// Returns the number of an item that has expired but is not deleted yet; `nil` if there is
    /// none.
    ///
    /// - Parameter name: `@` and a number, or a unique identifier. A number takes precedence over
    ///   an identifier of the same form.
    public func expiredItem(named name: String, bundle: String?) async throws(SearchIndexError) -> Int64? {
        guard Self.canBeStored(name), Self.canBeStored(bundle) else { return nil }
        let number = name.hasPrefix("@") ? Int64(name.dropFirst()) : nil
        return try await read("Looking up an item") { [clock] db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT item.id FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE (item.id = ? OR item.unique_identifier = ?) AND (? IS NULL OR bundle.identifier = ?)
                        AND item.expires <= ?
                    ORDER BY item.id = ? DESC, item.id LIMIT 1
                    """, arguments: [number, name, bundle, bundle, clock.now(db), number])
        }
    }

    /// Determines the rank of the item among the hits.
    private func rank(
        _ diagnosis: inout SearchDiagnosis, among page: SearchPage, _ request: SearchRequest, isSearch: Bool
    ) async throws(IndexQueryError) {
        if let rank = page.rank(of: diagnosis.item) {
            (diagnosis.rank, diagnosis.outcome) = (rank, .shown)
            diagnosis.hit = SearchDiagnosis.RankedItem(page.hits[rank - 1])
            return
        }
        let isExcluded = diagnosis.conditions.contains { !$0.isMet }
        guard isSearch || isExcluded else { return diagnosis.outcome = .nothingSought }
        diagnosis.outcome = isExcluded ? .excluded : diagnosis.hit == nil ? .noWord : .missed
        if page.next != nil || diagnosis.hit != nil, !isExcluded {
            var wide = request.with(limit: SearchDiagnosis.maximumRank)
            wide.countsUpTo = SearchDiagnosis.maximumRank + 1
            let all = try await search(wide)
            // The rank is relative to these hits; a short page may not include all of them.
            diagnosis.total = SearchDiagnosis.total(of: all)
            if all.next != nil, diagnosis.hit != nil { diagnosis.outcome = .tooFarBehind }
            if let rank = all.rank(of: diagnosis.item) {
                (diagnosis.rank, diagnosis.outcome) = (rank, .behind)
                diagnosis.hit = SearchDiagnosis.RankedItem(all.hits[rank - 1])
            }
        }
    }

    /// Returns searches that find the item. Each one is tried.
    private func suggestions(
        for diagnosis: SearchDiagnosis, _ texts: [String], _ request: SearchRequest, readsBareDates: Bool
    ) async throws(IndexQueryError) -> [SearchDiagnosis.Suggestion] {
        let item = diagnosis.item
        var suggestions: [SearchDiagnosis.Suggestion] = []
        if let rank = diagnosis.rank {
            let limit = min(SearchDiagnosis.maximumRank, (max(rank, request.limit + 1) + 9) / 10 * 10)
            suggestions.append(.init(text: request.text, bundle: request.bundle, limit: limit, rank: rank))
        }
        var texts = texts
        if diagnosis.hit != nil, request.bundle == nil {
            texts.insert("app:\(item.scope.bundle) \(request.text)", at: 0)
        }
        if request.bundle != nil, item.scope.bundle != request.bundle { texts.insert(request.text, at: 0) }
        for text in texts.prefix(SearchDiagnosis.maximumSuggestions) {
            var other = request.with(limit: SearchDiagnosis.maximumRank)
            (other.text, other.readsBareDates) = (text, readsBareDates)
            if request.bundle != item.scope.bundle { other.bundle = nil }
            guard let rank = try await search(other).rank(of: item) else { continue }
            let limit = rank <= request.limit ? request.limit : (rank + 9) / 10 * 10
            suggestions.append(.init(text: text, bundle: other.bundle, limit: limit, rank: rank))
            // Later texts differ more from the original and are not needed.
            if rank <= request.limit { break }
        }
        return suggestions
    }
}

/// A comparison of one item with a search, for one state of the store.
private struct Comparison {
    let item: StoredItem
    let words: [SearchDiagnosis.Word]
    let conditions: [SearchDiagnosis.Condition]
    let hit: SearchDiagnosis.RankedItem?
    /// Other texts that may find the item.
    let texts: [String]

    var hasNotExpired: Bool { !conditions.contains { $0.kind == .expiry } }

    /// Compares an item with a search; `nil` if there is no such item.
    init?(
        _ request: SearchRequest, _ prepared: PreparedSearch?, item number: Int64, _ context: QueryContext,
        present: Double, _ db: Database
    ) throws {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT \(StoredItem.columns), item.text_row FROM item JOIN bundle ON bundle.id = item.bundle WHERE item.id = ?
                """, arguments: [number])
        guard let row else { return nil }
        let stored = try StoredItem(row)
        let diagnosis = ItemDiagnosis(request, stored, context)
        let placed = try diagnosis.conditions(present: present)
        conditions = placed.map(\.condition)
        item = diagnosis.projected(placed)
        guard let run = try prepared?.outcome(1, db).run else {
            (words, hit) = ([], nil)
            texts = diagnosis.otherTexts(placed, [])
            return
        }
        let sought = try run.soughtWords()
        words = diagnosis.words(sought)
        texts = diagnosis.otherTexts(placed, words)
        var bytes = 0
        let text: Int64? = try row.decode(forColumn: "text_row")
        let ranked = try text.flatMap { try run.read($0, run.relevance(sought), &bytes) }
        hit = ranked.map {
            SearchDiagnosis.RankedItem(
                number: number, title: stored.displayTitle, score: $0.score, parts: $0.parts)
        }
    }
}

extension SearchRequest {
    fileprivate func with(limit: Int) -> SearchRequest {
        var request = self
        request.limit = limit
        return request
    }
}

extension SearchPage {
    /// Returns the rank of an item on the first page, from 1.
    fileprivate func rank(of item: StoredItem) -> Int? {
        hits.firstIndex { $0.item.number == item.number }.map { $0 + 1 }
    }
}

extension SearchDiagnosis {
    /// Returns the number of items that a search found; at most ``maximumRank``.
    fileprivate static func total(of page: SearchPage) -> SearchTotal {
        var total = page.total ?? SearchTotal(count: page.hits.count, isExact: page.next == nil)
        total.count = max(total.count, page.hits.count)
        guard total.count > maximumRank else { return total }
        return SearchTotal(count: maximumRank, isExact: false)
    }
}

extension SearchDiagnosis.RankedItem {
    fileprivate init(_ hit: SearchHit) {
        self.init(number: hit.item.number, title: hit.item.displayTitle, score: hit.score, parts: hit.parts)
    }
}
