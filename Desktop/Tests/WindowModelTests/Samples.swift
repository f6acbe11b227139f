// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import UserSearch

@testable import SearchIndex
@testable import SearchlightEngine
@testable import WindowModel

/// Results and answers for tests.
enum Sample {
    static func item(_ number: Int64, bundle: String = "com.example.notes", _ record: ItemRecord? = nil) -> StoredItem {
        StoredItem(
            number: number, scope: IndexScope(bundle: bundle),
            record: record ?? ItemRecord(uniqueIdentifier: "item-\(number)"), donated: 0, expires: nil)
    }

    static func hit(
        _ number: Int64, title: String = "Title", app: String = "Notes", bundle: String = "com.example.notes",
        kind: String? = "Text", record: ItemRecord? = nil
    ) -> FoundItem {
        FoundItem(
            item: item(number, bundle: bundle, record), title: title, contentType: "public.plain-text", kindName: kind,
            path: nil, bundleName: app, hasThumbnail: false, fit: .titleStart,
            parts: ScoreParts(fit: .titleStart, evidence: 0.9, words: 0.2, nearness: 0, freshness: 1), score: 1)
    }

    /// - Parameter next: The cursor of the next page.
    static func found(_ hits: [FoundItem], next: SearchCursor? = nil) -> WindowEvent.Answer<FoundItems> {
        .value(FoundItems(hits: hits, next: next, total: SearchTotal(count: hits.count, isExact: true)))
    }

    static func cursor(_ item: Int64) -> SearchCursor { SearchCursor(now: 0, shown: [item]) }
}

extension WindowState {
    /// Returns a state with results for a text.
    static func showing(_ hits: [FoundItem], text: String = "note") -> WindowState {
        var state = WindowState()
        _ = state.take(.typed(text))
        _ = state.take(.found(search: state.search, Sample.found(hits)))
        return state
    }
}
