// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import ServiceMessages
import Synchronization
import Testing

@testable import CoreSpotlight

@Suite("Continuation handlers")
struct ContinuationHandlerTests {
    private final class Changes: Sendable {
        let all = Mutex<[Bool]>([])
    }

    private func handlers(_ record: [UInt8]? = nil, _ changes: Changes = Changes()) -> ContinuationHandlers {
        ContinuationHandlers { _ in
            record
        } onChange: { isWanted in
            changes.all.withLock { $0.append(isWanted) }
        }
    }

    @Test("Items and searches have Apple's types and user info")
    func types() async {
        let item = await handlers().activity(.item("one"))
        #expect(item.activityType == CSSearchableItemActionType)
        #expect(item.userInfo?[CSSearchableItemActivityIdentifier] as? String == "one")
        let search = await handlers().activity(.search("words"))
        #expect(search.activityType == CSQueryContinuationActionType)
        #expect(search.userInfo?[CSSearchQueryString] as? String == "words")
    }

    @Test("An item that was donated for an activity becomes that activity")
    func donated() async throws {
        let activity = NSUserActivity(activityType: "com.example.reading")
        activity.title = "A page"
        activity.userInfo = ["page": 7]
        activity.isEligibleForSearch = true
        let item = try #require(activity.searchableItem)
        let record = try item.record.encoded()
        let continued = await handlers(record).activity(.item(item.uniqueIdentifier))
        #expect(continued.activityType == "com.example.reading")
        #expect(continued.userInfo?["page"] as? Int == 7)
        let gone = await handlers(nil).activity(.item(item.uniqueIdentifier))
        #expect(gone.activityType == CSSearchableItemActionType)
    }

    @Test("The service is notified of the first handler, and of the removal of the last one")
    func wanted() {
        let changes = Changes()
        let handlers = handlers(nil, changes)
        handlers.set { _, _ in true }
        handlers.set { _, _ in false }
        handlers.set(nil)
        handlers.set({ _ in }, for: CSSearchableItemActionType)
        handlers.set(nil)
        #expect(changes.all.withLock { $0 } == [true, false, true])
    }
}
