// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex

extension SearchlightEngine {
    /// Grows whenever donations were lost.
    package func generation() async throws(EngineError) -> Int {
        try await onIndex { (index) throws(SearchIndexError) in try await index.generation() }
    }

    /// The items of a bundle that satisfy a query, as records; see
    /// ``SearchIndex/records(matching:filters:bundle:as:after:)``.
    package func records(
        matching query: QueryExpression, filters: [QueryExpression], bundle: String, as form: RecordPageForm,
        after cursor: QueryCursor?
    ) async throws(EngineError) -> RecordPage<QueryCursor> {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.records(matching: query, filters: filters, bundle: bundle, as: form, after: cursor)
        }
    }

    /// The items that a search finds, best first, as records; see ``SearchIndex/records(_:as:maximumHits:)``.
    package func records(
        _ request: SearchRequest, as form: RecordPageForm, maximumHits: Int
    ) async throws(EngineError) -> RecordPage<SearchCursor> {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.records(request, as: form, maximumHits: maximumHits)
        }
    }

    /// Texts that may take the place of a text that is being typed; see ``SearchIndex/suggestions(_:)``.
    package func suggestions(_ request: SuggestionRequest) async throws(EngineError) -> [Suggestion] {
        try await onQuery { (index) throws(IndexQueryError) in try await index.suggestions(request) }
    }
}
