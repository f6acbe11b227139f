// SPDX-License-Identifier: Apache-2.0
import SearchIndex

extension SearchlightEngine {
    /// Explains why an item is or is not on the first page of a search; see
    /// ``SearchIndex/diagnose(_:item:)``.
    ///
    /// - Parameters:
    ///   - search: The search; its limit is the page size.
    ///   - number: The number of the item, which may have expired.
    /// - Throws: ``EngineError/itemNotFound(_:)`` if no item has this number.
    package func diagnose(_ search: ItemSearch, item number: Int64) async throws(EngineError) -> SearchDiagnosis {
        let request = await withMeaning(try request(for: search))
        let diagnosis = try await onQuery(having: number) { (index) throws(IndexQueryError) in
            try await index.diagnose(request, item: number)
        }
        guard let diagnosis else { throw .itemNotFound("@\(number)") }
        return diagnosis
    }

    /// Returns the number of an expired item; see ``SearchIndex/expiredItem(named:bundle:)``.
    func expiredItem(named name: String, bundle: String?) async throws(EngineError) -> Int64? {
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.expiredItem(named: name, bundle: bundle)
        }
    }
}
