// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import UserSearch

/// A search with a parsed text and compiled filters, ready to run.
struct PreparedSearch: Sendable {
    let request: SearchRequest
    private var plan: SearchPlan
    /// The conditions on attributes.
    let filters: [QueryExpression]
    private let filterQuery: PreparedQuery?
    private let filter: QueryEvaluator?
    private let clock: StoreClock
    /// The clock for date phrases in a text.
    let queryClock: QueryClock
    private let folder: StoreFolder
    let embeddings: EmbeddingCache
    /// `true` if the user allows engagement to affect ranking.
    private let learns: Bool
    /// The text, with filters replaced by spaces.
    private(set) var text: String
    /// The filters on apps.
    private let apps: [SearchIntent.Filter]
    /// `true` if the text has a date phrase without a filter name, so that a second search may
    /// treat the phrase as ordinary words.
    let mayReadOtherwise: Bool

    /// Prepares a search; `nil` if it cannot find anything.
    ///
    /// - Parameters:
    ///   - context: The query context; `nil` for ``SearchIndex/queryContext(in:)``.
    ///   - findsAll: `true` if a text without words and filters finds all items.
    /// - Throws: ``IndexQueryError/tooComplex(what:value:limit:)``.
    init?(
        _ index: SearchIndex, _ request: SearchRequest, context: QueryContext? = nil, findsAll: Bool = false
    ) throws(IndexQueryError) {
        let context = context ?? index.queryContext()
        let intent = SearchIntent(request, clock: context.clock)
        let text = intent?.text ?? request.text
        let typed = intent?.filters ?? []
        let onlyFilters = typed.isEmpty || !(intent?.words.terms.isEmpty ?? true) ? nil : SearchPlan.everything
        guard let plan = SearchPlan(text) ?? onlyFilters ?? (findsAll ? SearchPlan.everything : nil),
            SearchIndex.canBeStored(request.bundle)
        else { return nil }
        self.plan = plan
        self.request = request
        self.text = text
        apps = typed.filter { !$0.apps.isEmpty }
        mayReadOtherwise = typed.contains(where: \.isImplied)
        clock = index.clock
        queryClock = context.clock
        folder = index.folder
        embeddings = index.embeddings
        learns = index.learns
        filters = request.filters + [intent?.expression].compactMap { $0 }
        guard !filters.isEmpty else {
            (filterQuery, filter) = (nil, nil)
            return
        }
        let query = try PreparedQuery(.and(filters), filters: [], bundle: nil, context: context)
        filterQuery = query
        filter = QueryEvaluator(query.expression, context: context)
    }

    /// Returns the search with some words replaced; `nil` if a range is not within the text.
    func replacing(_ replacements: [WordReplacement]) -> PreparedSearch? {
        text.replacing(replacements).flatMap(searching)
    }

    /// Returns a search for other words with the same conditions; `nil` if the text contains no
    /// words.
    func searching(for text: String) -> PreparedSearch? {
        guard let plan = SearchPlan(text) else { return nil }
        var search = self
        (search.text, search.plan) = (text, plan)
        return search
    }

    /// The folded words to find.
    var words: [String] { plan.words.map(\.text) }

    /// `true` if the search consists only of filters.
    var isFiltersOnly: Bool { plan.words.isEmpty && !plan.isStrict }

    /// `true` if no filter tests the app of an item.
    var hasNoApps: Bool { apps.isEmpty }

    /// Returns `true` if the app filters and the excluded bundles allow a bundle.
    func allows(bundle: String) -> Bool {
        !request.excludedBundles.contains(bundle)
            && apps.allSatisfy { $0.apps.contains { SearchRun.isApp($0, bundle) } != $0.isExcluded }
    }

    /// Returns `true` if filters, phrases and exclusions allow an item. The caller must have
    /// checked the words.
    func allows(_ record: DatabaseValue, of number: Int64, named bundle: String) throws -> Bool {
        guard allows(bundle: bundle) else { return false }
        if let filter, try !filter.matches(record) { return false }
        guard plan.isStrict, case .blob(let bytes) = record.storage else { return true }
        return plan.allows(SearchableText.fields(of: try ItemRecord(decoding: bytes)))
    }

    /// Returns the search for one state of the store, at the time of the request's cursor.
    func run(_ db: Database) throws -> SearchRun {
        let present = try clock.now(db)
        // If the clock was set after the cursor was created, the dates of items have been shifted.
        let now = request.cursor.map { abs(present - $0.now) > StoreClock.correction ? present : $0.now } ?? present
        // The tables of the previous format have no variants.
        let isMigrating = try !FullTextIndex.derived.isCurrent(db)
        return try SearchRun(
            plan: plan(isMigrating: isMigrating), request: request, filter: filter, now: now, present: present,
            isMigrating: isMigrating, apps: apps,
            allowed: isMigrating ? nil : filterQuery?.candidateTexts(upTo: request.limits.filteredTexts, db),
            learned: learned(db, now: now),
            meaning: isMigrating || plan.words.isEmpty ? nil : meaning(db),
            statistics: isMigrating ? TextStatistics() : TextStatistics(db, sample: request.limits.sample),
            items: TextItemReader(db), db: db)
    }

    /// Returns a copy of another search with the words of this one. The two searches must differ
    /// only in their words (``replacing(_:)``).
    func run(like other: SearchRun) -> SearchRun {
        var run = other
        run.plan = plan(isMigrating: other.isMigrating)
        return run
    }

    private func plan(isMigrating: Bool) -> SearchPlan {
        isMigrating ? SearchPlan(text, findsVariants: false) ?? plan : plan
    }

    /// Returns the engagement for the search. Damage to the table is recorded for the next opening,
    /// and the search continues without engagement.
    private func learned(_ db: Database, now: Double) throws -> LearnedSearch {
        // Filters alone find the newest items, and engagement does not change that order.
        guard learns, !plan.words.isEmpty, let reporter = request.learnsFrom else { return LearnedSearch() }
        do {
            return try LearnedSearch(request.text, from: reporter, bundle: request.bundle, now: now, folder: folder, db)
        } catch  where EngagementTable.isDamage(error) {
            folder.suspect()
            return LearnedSearch()
        }
    }

    /// Returns the similarity of items in meaning; `nil` if the request has no meaning, or the
    /// store has no embeddings for it. Damage is recorded for the next opening, and the search
    /// continues with words.
    private func meaning(_ db: Database) throws -> MeaningRanking? {
        guard let meaning = request.meaning else { return nil }
        do {
            return try MeaningRanking(meaning, bundles: bundles(db), embeddings, db)
        } catch  where EngagementTable.isDamage(error) {
            folder.suspect()
            return nil
        }
    }

    /// Returns the numbers of the bundles whose items may be found; `nil` for all.
    func bundles(_ db: Database) throws -> Set<Int64>? {
        guard request.bundle != nil || !request.excludedBundles.isEmpty || !apps.isEmpty else { return nil }
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT id, identifier FROM bundle"))
        var numbers: Set<Int64> = []
        while let row = try rows.next() {
            let name: String = try row.decode(forColumn: "identifier")
            guard request.bundle == nil || request.bundle == name, allows(bundle: name) else { continue }
            numbers.insert(try row.decode(forColumn: "id"))
        }
        return numbers
    }

    /// The text whose meaning the search may use; `nil` if the search is not suitable for it.
    var meaningText: String? {
        let isTyping = !request.includesPending && plan.words.contains(where: \.isOpen)
        guard request.usesMeaning, MeaningRule.applies(words: plan.words.count, isTyping: isTyping) else { return nil }
        return text.collapsingWhitespace
    }

    /// Returns the hit with only the requested attributes.
    func projected(_ hit: SearchHit) -> SearchHit {
        var hit = hit
        hit.item.record.keep(request.attributes)
        return hit
    }
}

extension SearchIntent {
    /// Interprets the text of a request; `nil` if the request interprets no filters.
    init?(_ request: SearchRequest, clock: QueryClock) {
        guard request.readsFilters else { return nil }
        self.init(request.text, clock: clock, readsBareDates: request.readsBareDates)
    }
}
