// SPDX-License-Identifier: Apache-2.0

extension SearchCursor {
    /// Returns the cursor for one of two indexes with disjoint item numbers: without the hits of
    /// the other index.
    fileprivate func keeping(_ isOwn: (Int64) -> Bool) -> SearchCursor {
        var cursor = self
        cursor.shown = shown.filter(isOwn)
        return cursor
    }
}

extension SearchIndex {
    /// Searches this index and one in memory with disjoint item numbers, and merges the hits by
    /// score. The rarity of a word is measured separately in each index.
    ///
    /// - Throws: ``IndexQueryError``.
    package func search(_ request: SearchRequest, with other: SearchIndex) async throws(IndexQueryError) -> SearchPage {
        let (own, others) = (request.of(self), request.of(other))
        var (first, second) = (try await search(own), try await other.search(others))
        // A word that occurs in one of the indexes is not misspelled.
        if first.correction != second.correction {
            if first.correction == nil, !first.hits.isEmpty {
                second = try await other.search(others.asTyped)
            } else if second.correction == nil, !second.hits.isEmpty {
                first = try await search(own.asTyped)
            } else if first.correction != nil {
                second = try await other.search(others.asTyped)
            }
        }
        return first.merged(with: second, for: request)
    }

    /// `true` if the index exists only in memory.
    package var isInMemory: Bool { numbers.lowerBound == Self.firstNumberInMemory }

    /// `true` if an item of this index can have the number.
    package func mayHave(number: Int64) -> Bool { numbers.contains(number) }
}

extension SearchRequest {
    fileprivate func of(_ index: SearchIndex) -> SearchRequest {
        var request = self
        request.cursor = cursor?.keeping { index.mayHave(number: $0) }
        return request
    }

    fileprivate var asTyped: SearchRequest {
        var request = self
        request.correctsSpelling = false
        return request
    }
}

extension SearchPage {
    fileprivate func merged(with other: SearchPage, for request: SearchRequest) -> SearchPage {
        let limit = max(1, min(SearchIndex.maximumPage, request.limit))
        // Both lists are sorted; a stable merge preserves the order of each list.
        var (rest, others) = (hits[...], other.hits[...])
        var merged: [SearchHit] = []
        while merged.count < limit, let next = rest.first ?? others.first {
            if let one = rest.first, others.first.map({ $0.score <= one.score }) ?? true {
                merged.append(one)
                rest.removeFirst()
            } else {
                merged.append(others.first ?? next)
                others.removeFirst()
            }
        }
        var page = self
        page.hits = merged
        page.correction = correction ?? other.correction
        page.pending = (pending ?? PendingDonations()).merging(other.pending).nonEmpty
        if let one = total, let two = other.total {
            page.total = SearchTotal(count: one.count + two.count, isExact: one.isExact && two.isExact)
        }
        guard next != nil || other.next != nil || !rest.isEmpty || !others.isEmpty else { return page }
        var cursor = next ?? other.next ?? request.cursor ?? SearchCursor(now: 0, shown: [])
        cursor.shown = (request.cursor?.shown ?? []) + merged.map(\.item.number)
        page.next = cursor
        return page
    }
}
