// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex
import Testing
import UserSearch

@testable import SearchlightEngine

/// The date shown next to a result.
@Suite("Date of a result")
struct FoundItemDateTests {
    private func date(_ type: String?, _ dates: [String: Double]) -> Double? {
        let record = ItemRecord(uniqueIdentifier: "a", attributes: dates.mapValues { .date($0) })
        let item = StoredItem(
            number: 1, scope: IndexScope(bundle: "org.example"), record: record, donated: 0, expires: nil)
        return FoundItem(
            item: item, title: "A", contentType: type, bundleName: "Example", fit: .text,
            parts: ScoreParts(fit: .text, evidence: 0.3, words: 0, nearness: 0, freshness: 1), score: 1
        ).date
    }

    @Test("A picture has its capture, a message its sending, an event its start, and others their last change")
    func kinds() {
        let both = ["contentCreationDate": 1.0, "contentModificationDate": 2]
        for type in ["public.jpeg", "public.heic", "public.mpeg-4", "public.mp3", "public.email-message"] {
            #expect(date(type, both) == 1, "\(type)")
        }
        for type in ["com.adobe.pdf", "public.plain-text", "org.example.unknown", "", nil] {
            #expect(date(type, both) == 2, "\(type ?? "none")")
        }
        #expect(date("public.calendar-event", both.merging(["startDate": 3]) { $1 }) == 3)
    }

    @Test("A missing date, or one that no calendar has, is replaced by the other")
    func missing() {
        #expect(date("public.jpeg", ["contentModificationDate": 2]) == 2)
        #expect(date("public.jpeg", ["contentCreationDate": .nan, "contentModificationDate": 2]) == 2)
        #expect(date("public.plain-text", ["contentCreationDate": 1, "contentModificationDate": 1e300]) == 1)
        #expect(date("public.plain-text", ["startDate": -.infinity]) == nil)
        #expect(date(nil, [:]) == nil)
    }
}
