// SPDX-License-Identifier: Apache-2.0
import SearchIndex

extension SearchlightEngine {
    /// Says why an item is, or is not, on the first page of a search; see ``SearchIndex/diagnose(_:item:)``.
    ///
    /// - Parameters:
    ///   - search: the search; its limit is that of the page.
    ///   - name: the item, as ``item(named:bundle:)`` takes it; also one that has expired and is not deleted yet.
    ///   - bundle: the bundle of the item, if several have one of this name.
    /// - Throws: ``EngineError/itemNotFound(_:)`` and the other errors of ``item(named:bundle:)``.
    package func diagnose(
        _ search: ItemSearch, item name: String, bundle: String?
    ) async throws(EngineError) -> SearchDiagnosis {
        var request = SearchRequest(search.text, bundle: search.bundle)
        request.limit = search.limit
        request.includesPending = search.includesPending
        request.correctsSpelling = search.correctsSpelling
        let (number, wanted) = (try await number(of: name, bundle: bundle), request)
        let diagnosis = try await onQuery { (index) throws(IndexQueryError) in
            try await index.diagnose(wanted, item: number)
        }
        guard let diagnosis else { throw .itemNotFound(name) }
        return diagnosis
    }

    private func number(of name: String, bundle: String?) async throws(EngineError) -> Int64 {
        do throws(EngineError) {
            return try await item(named: name, bundle: bundle).number
        } catch .itemNotFound(let missing) {
            let expired = try await onIndex { (index) throws(SearchIndexError) in
                try await index.expiredItem(named: name, bundle: bundle)
            }
            guard let expired else { throw .itemNotFound(missing) }
            return expired
        }
    }
}
