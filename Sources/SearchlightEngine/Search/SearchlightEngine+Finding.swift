// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import Previews
import SearchIndex
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// The attributes that determine the title, kind and path of a hit.
    private static let shownAttributes: Set<String> = ["title", "displayName", "contentType", "contentURL"]

    package func find(_ search: ItemSearch) async throws(EngineError) -> FoundItems {
        let page = try await self.search(try request(for: search))
        return FoundItems(
            hits: found(page.hits, search, query: page.correction?.text ?? search.text), next: page.next,
            pending: page.pending, total: page.total, correction: page.correction,
            notes: try await notes(search.notes, about: search.bundle),
            isLocked: search.bundle.map(vault.isLocked) ?? vault.isLocked)
    }

    /// Returns hits with their snippets.
    ///
    /// - Parameter query: The text whose words the snippets show.
    func found(_ hits: [SearchHit], _ search: ItemSearch, query: String) -> [FoundItem] {
        let highlighter = Highlighter(query: query)
        let bundles = Set(hits.map(\.item.scope.bundle))
        let names = Dictionary(uniqueKeysWithValues: bundles.map { ($0, displayName(of: $0)) })
        return hits.map { FoundItem($0, search, highlighter, names) }
    }

    /// Returns the index request for a search.
    ///
    /// - Throws: ``ServiceProblem/refused(during:reason:)`` for too many filters or a malformed
    ///   filter.
    func request(for search: ItemSearch) throws(EngineError) -> SearchRequest {
        guard search.filters.count <= ItemSearch.maximumFilters else {
            let reason = "\(search.filters.count) filters; the limit is \(ItemSearch.maximumFilters)"
            throw .service(.refused(during: "search", reason: reason))
        }
        var request = SearchRequest(search.text, bundle: search.bundle)
        for filter in search.filters { request.filters.append(try QueryText.text(filter).query(for: "search")) }
        request.excludedBundles = search.excludedBundles
        request.limit = search.limit
        request.cursor = search.cursor
        request.includesPending = search.includesPending
        request.correctsSpelling = search.correctsSpelling
        request.usesMeaning = search.usesMeaning
        request.countsUpTo = search.countsUpTo
        request.attributes = search.attributes.union(Self.shownAttributes).union(QuickAction.attributes)
        if search.snippetLength != nil { request.attributes?.formUnion(StoredItem.snippetAttributes) }
        if search.findsThumbnails { request.attributes?.formUnion(ItemRecord.thumbnailAttributes) }
        return request
    }

    /// Returns the requested notes.
    ///
    /// - Parameter bundle: The only bundle whose items are searched; `nil` for all.
    private func notes(
        _ request: StoreNotes.Request?, about bundle: String?
    ) async throws(EngineError) -> StoreNotes? {
        guard let request else { return nil }
        let isSearched = { (other: String) in bundle == nil || other == bundle }
        // The user does without the items of a disabled extension.
        let owed = jobStore.jobs.map(\.bundle).filter { isSearched($0) && !health(of: $0).isDisabled }
        // An extension may have just been installed.
        if !owed.isEmpty { await refreshExtensions() }
        let registry = registry
        let installed = Set(registry.extensions.map(\.identifier))
        let hasFollowed = registry.extensions.contains {
            isSearched($0.identifier) && $0.manifest.access.watchedPaths != .none
                && !health(of: $0.identifier).isDisabled
        }
        return StoreNotes(
            opening: try await opening(),
            pendingReindexes: owed.map { .init(bundle: $0, isInstalled: installed.contains($0)) },
            unfollowedSince: hasFollowed && fileFollower.withLock({ $0 == nil })
                ? FollowedFiles.lastLook(storeDirectory: configuration.storeDirectory) : nil,
            pendingFiles: pendingFiles.filter { isSearched($0.bundle) },
            otherExtensionFolders: request.extensionFolders.filter { !registry.searchPath.contains($0) })
    }

    /// Returns the passage in an item's text that best shows the words of the search.
    fileprivate static func snippet(
        of hit: SearchHit, length: Int, _ highlighter: Highlighter
    ) -> Snippet? {
        // If no word of the search occurs, the passage with the similar meaning is shown.
        let texts = hit.passage.map { [$0] } ?? hit.item.snippetTexts
        return highlighter.markedSnippet(of: texts, length: length).map { Snippet(text: $0.text, marks: $0.marks) }
    }
}

extension StoredItem {
    /// The attributes that supply snippets.
    fileprivate static let snippetAttributes = ["textContent", "contentDescription"]

    /// The texts that supply snippets, without a first line that repeats the title, because the
    /// title is shown above the snippet.
    package var snippetTexts: [String] {
        let title = displayTitle
        return Self.snippetAttributes.compactMap { record.text($0).map { Self.rest(of: $0, after: title) } }
            .filter { !$0.isEmpty }
    }

    /// The name of the item's kind for the user; `nil` if it has no type.
    package var kindName: String? { contentType.map { UTType($0)?.kindName ?? $0 } }

    /// Returns a text without a first line that repeats a title.
    private static func rest(of text: String, after title: String) -> String {
        guard !title.isEmpty, text.utf8.starts(with: title.utf8) else { return text }
        let rest = text[text.utf8.index(text.startIndex, offsetBy: title.utf8.count)...]
        guard let start = rest.firstIndex(where: { !$0.isWhitespace }) else { return "" }
        return rest[..<start].contains(where: \.isNewline) ? String(rest[start...]) : text
    }
}

extension FoundItem {
    fileprivate init(
        _ hit: SearchHit, _ search: ItemSearch, _ highlighter: Highlighter, _ names: [String: String]
    ) {
        item = hit.item
        item.record.attributes = item.record.attributes.filter { search.attributes.contains($0.key) }
        let shown = hit.item.displayTitle
        let cut = shown.prefix(Self.maximumTitleCharacters)
        title = cut.endIndex == shown.endIndex ? shown : cut + "…"
        contentType = hit.item.contentType
        kindName = hit.item.kindName
        path = hit.item.record.contentPath
        bundleName = names[hit.item.scope.bundle] ?? hit.item.scope.bundle
        hasThumbnail = search.findsThumbnails ? hit.item.record.thumbnailReference != nil : nil
        actions = QuickAction.offered(by: hit.item.record)
        fit = hit.kind
        parts = hit.parts
        score = hit.score
        snippet = search.snippetLength.flatMap {
            SearchlightEngine.snippet(of: hit, length: $0, highlighter)
        }
    }
}
