// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import UserSearch

/// A search that is ready to be run.
struct PreparedSearch: Sendable {
    let request: SearchRequest
    private var plan: SearchPlan
    /// The conditions on attributes.
    let filters: [QueryExpression]
    private let filter: QueryEvaluator?
    private let clock: StoreClock
    /// By which dates in a text are read.
    let queryClock: QueryClock
    private let folder: StoreFolder
    /// Whether the user wants the order to follow from use.
    private let learns: Bool
    /// The text with spaces for its filters.
    private(set) var text: String
    /// The filters on apps.
    private let apps: [SearchIntent.Filter]
    /// Whether a date without a filter's name was taken for one, so that the text is worth a try without.
    let mayReadOtherwise: Bool

    /// `nil` if nothing can be found.
    ///
    /// - Throws: ``IndexQueryError/tooComplex(what:value:limit:)``.
    ///
    /// - Parameter context: ``SearchIndex/queryContext(in:)`` if `nil`.
    init?(
        _ index: SearchIndex, _ request: SearchRequest, context: QueryContext? = nil
    ) throws(IndexQueryError) {
        let context = context ?? index.queryContext()
        let intent = request.readsFilters ? SearchIntent(request.text, clock: context.clock) : nil
        let text = intent?.text ?? request.text
        let typed = intent?.filters ?? []
        let onlyFilters = typed.isEmpty || !(intent?.words.terms.isEmpty ?? true) ? nil : SearchPlan.everything
        guard let plan = SearchPlan(text) ?? onlyFilters, SearchIndex.canBeStored(request.bundle) else { return nil }
        self.plan = plan
        self.request = request
        self.text = text
        apps = typed.filter { !$0.apps.isEmpty }
        mayReadOtherwise = typed.contains(where: \.isImplied)
        clock = index.clock
        queryClock = context.clock
        folder = index.folder
        learns = index.learns
        filters = request.filters + [intent?.expression].compactMap { $0 }
        guard !filters.isEmpty else {
            filter = nil
            return
        }
        let prepared = try PreparedQuery(.and(filters), filters: [], bundle: nil, context: context)
        filter = QueryEvaluator(prepared.expression, context: context)
    }

    /// The same search with other words; `nil` for ranges that the text does not have.
    func replacing(_ replacements: [WordReplacement]) -> PreparedSearch? {
        guard let text = text.replacing(replacements), let plan = SearchPlan(text) else { return nil }
        var search = self
        (search.text, search.plan) = (text, plan)
        return search
    }

    /// The words to find, folded.
    var words: [String] { plan.words.map(\.text) }

    /// Whether filters alone decide.
    var isFiltersOnly: Bool { plan.words.isEmpty && !plan.isStrict }

    /// Whether no filter is on the app of an item.
    var hasNoApps: Bool { apps.isEmpty }

    /// Whether the filters on apps allow a bundle.
    func allows(bundle: String) -> Bool {
        apps.allSatisfy { $0.apps.contains { SearchRun.isApp($0, bundle) } != $0.isExcluded }
    }

    /// Whether filters, phrases and words to leave out allow an item; expects that it has the words.
    func allows(_ record: DatabaseValue, of number: Int64, named bundle: String) throws -> Bool {
        guard allows(bundle: bundle) else { return false }
        if let filter, try !filter.matches(record) { return false }
        guard plan.isStrict, case .blob(let bytes) = record.storage else { return true }
        return plan.allows(SearchableText.fields(of: try ItemRecord(decoding: bytes)))
    }

    /// The search in one state of the store, with the present of the request's cursor.
    func run(_ db: Database) throws -> SearchRun {
        let present = try clock.now(db)
        // Since the cursor was made the clock may have been set, and the dates of items have moved along.
        let now = request.cursor.map { abs(present - $0.now) > StoreClock.correction ? present : $0.now } ?? present
        // The tables of the previous format have no variants.
        let isMigrating = try !FullTextIndex.derived.isCurrent(db)
        return try SearchRun(
            plan: plan(isMigrating: isMigrating), request: request, filter: filter, now: now, present: present,
            isMigrating: isMigrating, apps: apps, learned: learned(db, now: now),
            statistics: isMigrating ? TextStatistics() : TextStatistics(db, sample: request.limits.sample),
            items: TextItemReader(db), db: db)
    }

    /// The same with the words of this search, which differs from another in these alone (``replacing(_:)``).
    func run(like other: SearchRun) -> SearchRun {
        var run = other
        run.plan = plan(isMigrating: other.isMigrating)
        return run
    }

    private func plan(isMigrating: Bool) -> SearchPlan {
        isMigrating ? SearchPlan(text, findsVariants: false) ?? plan : plan
    }

    /// What was learned about the search. Damage there is noted for the next opening; it is no reason to find nothing.
    private func learned(_ db: Database, now: Double) throws -> LearnedSearch {
        guard learns, let reporter = request.learnsFrom else { return LearnedSearch() }
        do {
            return try LearnedSearch(request.text, from: reporter, bundle: request.bundle, now: now, folder: folder, db)
        } catch  where EngagementTable.isDamage(error) {
            folder.suspect()
            return LearnedSearch()
        }
    }

    /// The hit with the attributes that are wanted.
    func projected(_ hit: SearchHit) -> SearchHit {
        var hit = hit
        hit.item.record.keep(request.attributes)
        return hit
    }
}
