// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import ItemRecord
import ServiceMessages
import Testing

@testable import CoreSpotlight

/// A delegate that writes a title.
private final class Titling: NSObject, NSUserActivityDelegate, @unchecked Sendable {
    // Sendable: the number is only read after the activity was saved.
    var number = 0

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        // An activity that is being saved does not need to be saved again.
        userActivity.needsSave = true
        number += 1
        userActivity.title = "Saved \(number)"
    }
}

@Suite("User activity")
struct UserActivityTests {
    /// The donations of a test's activities, and the holder of the current activity.
    private struct World {
        let transport = RecordingTransport()
        let found: FakeQueryTransport
        let replacement: ProcessTransports.Replacement

        init(found steps: [FakeQueryTransport.Step] = []) {
            found = FakeQueryTransport(steps)
            replacement = .init(
                query: found, index: CSSearchableIndex(name: nil, sender: RequestSender(transport: transport)),
                currentActivity: CurrentActivity())
        }

        func activity(_ change: (NSUserActivity) -> Void = { _ in }) -> NSUserActivity {
            ProcessTransports.$replacement.withValue(replacement) {
                let activity = NSUserActivity(activityType: "com.example.reading")
                activity.title = "A page"
                activity.isEligibleForSearch = true
                change(activity)
                return activity
            }
        }

        /// Returns the sent requests, once all are sent.
        func sent() async throws -> [IndexRequest.Action] {
            // Requests are sent in order, so once this one has been sent, all earlier requests have
            // been sent.
            try await replacement.index?.deleteSearchableItems(withIdentifiers: ["fence"])
            return transport.sent.map(\.action).filter { $0 != .change(.deleteItems(["fence"])) }
        }

        func records() async throws -> [ItemRecord] {
            try await sent().flatMap { request -> [ItemRecord] in
                guard case .put(let batch)? = request.change else { return [] }
                return try RecordBatch.split(batch).map { try ItemRecord(decoding: $0) }
            }
        }
    }

    @Test func anEligibleActivityIsDonatedWhenItBecomesCurrent() async throws {
        let world = World()
        let activity = world.activity { activity in
            activity.persistentIdentifier = "page-1"
            activity.keywords = ["b", "a"]
            activity.webpageURL = URL(string: "https://example.com/1")
            activity.expirationDate = .distantFuture
            let set = CSSearchableItemAttributeSet(contentType: .text)
            set.keywords = ["a"]
            set.relatedUniqueIdentifier = "note-1"
            activity.contentAttributeSet = set
            set.comment = "after"
        }
        activity.becomeCurrent()
        let record = try #require(try await world.records().first)
        #expect(record.uniqueIdentifier == "com.searchlight.activity:page-1")
        #expect(record.domainIdentifier == "com.searchlight.activities" && record.expiration == .never)
        #expect(record.text("title") == "A page" && record.texts("keywords") == ["a", "b"])
        #expect(record.text("url") == "https://example.com/1" && record.text("relatedUniqueIdentifier") == "note-1")
        #expect(record.text("contentType") == "public.text" && record.text("comment") == nil)
        #expect(record.attributes["lastUsedDate"] != nil)
    }

    @Test func aDomainOfItsOwnIsKept() async throws {
        let world = World()
        let activity = world.activity {
            $0.contentAttributeSet = CSSearchableItemAttributeSet()
            $0.contentAttributeSet?.domainIdentifier = "journal.may"
        }
        activity.becomeCurrent()
        let domains = try await world.records().map(\.domainIdentifier)
        #expect(domains == ["journal.may"])
    }

    @Test func whatIsNotEligibleOrHasNoTitleOrIsOverIsNotDonated() async throws {
        let world = World()
        world.activity { $0.isEligibleForSearch = false }.becomeCurrent()
        world.activity { $0.title = nil }.becomeCurrent()
        world.activity { $0.title = "" }.becomeCurrent()
        let over = world.activity()
        over.invalidate()
        over.becomeCurrent()
        let sent = try await world.sent()
        #expect(sent.isEmpty)
    }

    @Test func aTitleAmongTheAttributesIsOne() async throws {
        let world = World()
        world.activity {
            $0.title = nil
            $0.contentAttributeSet = CSSearchableItemAttributeSet()
            $0.contentAttributeSet?.displayName = "Shown"
        }.becomeCurrent()
        let titles = try await world.records().map { $0.text("title") }
        #expect(titles == ["Shown"])
    }

    @Test func activitiesWithoutAPersistentIdentifierAreItemsOfTheirOwn() async throws {
        let world = World()
        let first = world.activity()
        first.becomeCurrent()
        first.becomeCurrent()
        world.activity().becomeCurrent()
        let identifiers = try await world.records().map(\.uniqueIdentifier)
        #expect(identifiers.count == 3 && Set(identifiers).count == 2 && identifiers[0] == identifiers[1])
    }

    @Test func theDelegateIsAskedBeforeADonationThatNeedsIt() async throws {
        let world = World()
        let delegate = Titling()
        let activity = world.activity { $0.delegate = delegate }
        activity.becomeCurrent()
        activity.resignCurrent()
        activity.needsSave = true
        activity.becomeCurrent()
        let titles = try await world.records().map { $0.text("title") }
        #expect(titles == ["A page", "Saved 1"] && !activity.needsSave)
    }

    @Test func aCurrentActivityThatNeedsSavingIsDonatedAgain() async throws {
        let world = World()
        let delegate = Titling()
        let activity = world.activity { $0.delegate = delegate }
        activity.becomeCurrent()
        activity.needsSave = true
        while activity.needsSave { await Task.yield() }
        var titles: [String?] = []
        while titles.count < 2 { titles = try await world.records().map { $0.text("title") } }
        #expect(titles == ["A page", "Saved 1"])
    }

    @Test func onlyOneActivityIsCurrent() {
        let world = World()
        let (first, second) = (world.activity(), world.activity())
        first.becomeCurrent()
        second.becomeCurrent()
        first.resignCurrent()
        #expect(!first.isCurrent && second.isCurrent)
        second.invalidate()
        #expect(!second.isCurrent)
    }

    @Test func anActivityIsMadeAgainFromItsItem() async throws {
        let world = World()
        let values: [AnyHashable: Any] = [
            "text": "é", "number": 3, "half": 0.5, "truth": true, "date": Date(timeIntervalSinceReferenceDate: 7),
            "data": Data([1, 2]), "link": URL(string: "note://7")!, "list": ["a", ["b": 1]] as [Any],
            "set": Set(["x", "y"]), "null": NSNull(), "dropped": NSObject(), "unwanted": "u",
        ]
        let activity = world.activity {
            $0.userInfo = values
            $0.requiredUserInfoKeys = Set(values.keys.compactMap { $0 as? String }).subtracting(["unwanted"])
            $0.webpageURL = URL(string: "http://example.com")
            $0.persistentIdentifier = "p"
            $0.targetContentIdentifier = "window"
        }
        activity.becomeCurrent()
        let record = try #require(try await world.records().first)
        let restored = try #require(NSUserActivity(searchableItem: CSSearchableItem(record)))
        #expect(restored.activityType == "com.example.reading" && restored.title == "A page")
        #expect(restored.persistentIdentifier == "p" && restored.targetContentIdentifier == "window")
        #expect(restored.webpageURL == activity.webpageURL)
        let info = try #require(restored.userInfo)
        #expect(info["text"] as? String == "é" && info["number"] as? Int == 3 && info["half"] as? Double == 0.5)
        #expect(info["truth"] as? Bool == true && info["data"] as? Data == Data([1, 2]))
        #expect(info["date"] as? Date == values["date"] as? Date && info["link"] as? URL == values["link"] as? URL)
        #expect(info["set"] as? Set<String> == ["x", "y"] && info["null"] is NSNull)
        #expect((info["list"] as? [Any])?.first as? String == "a")
        #expect(info["dropped"] == nil && info["unwanted"] == nil)
        #expect(NSUserActivity(searchableItem: CSSearchableItem()) == nil)
    }

    @Test func aWebPageWithoutRequiredKeysKeepsNoUserInfo() async throws {
        let world = World()
        world.activity {
            $0.userInfo = ["a": 1]
            $0.webpageURL = URL(string: "https://example.com")
        }.becomeCurrent()
        world.activity {
            $0.userInfo = ["a": 1]
            $0.webpageURL = URL(string: "ftp://example.com")
            $0.requiredUserInfoKeys = ["a"]
        }.becomeCurrent()
        let activities = try await world.records().map { NSUserActivity(searchableItem: CSSearchableItem($0)) }
        #expect(activities.map { $0?.userInfo?["a"] as? Int } == [nil, 1])
        #expect(activities.map { $0?.webpageURL == nil } == [false, true])
    }

    // MARK: Deletion

    @Test func activitiesAreDeletedByPersistentIdentifier() async throws {
        let world = World()
        await ProcessTransports.$replacement.withValue(world.replacement) {
            await NSUserActivity.deleteSavedUserActivities(withPersistentIdentifiers: ["a", "b"])
        }
        let sent = try await world.sent()
        #expect(sent == [.change(.deleteItems(["com.searchlight.activity:a", "com.searchlight.activity:b"]))])
    }

    @Test func allActivitiesAreDeletedWhateverTheirDomain() async throws {
        let own = ResultPage(
            records: [
                try ItemRecord(uniqueIdentifier: "com.searchlight.activity:x").encoded(),
                try ItemRecord(uniqueIdentifier: "a note that claims to be one").encoded(),
            ], next: [1])
        let rest = ResultPage(
            records: [try ItemRecord(uniqueIdentifier: "com.searchlight.activity:y").encoded()], next: nil)
        let world = World(found: [.raw(own), .raw(rest)])
        await ProcessTransports.$replacement.withValue(world.replacement) {
            await NSUserActivity.deleteAllSavedUserActivities()
        }
        let sent = try await world.sent()
        #expect(
            sent == [
                .change(.deleteDomains(["com.searchlight.activities"])),
                .change(.deleteItems(["com.searchlight.activity:x", "com.searchlight.activity:y"])),
            ])
    }

    @Test func theHandlerOfADeletionIsCalledAlsoWithoutAnIndex() async throws {
        let lost = RecordingTransport { _ in CSIndexError(.indexUnavailableError, "The service is gone.") }
        let index = CSSearchableIndex(name: nil, sender: RequestSender(transport: lost))
        let saved = try ItemRecord(uniqueIdentifier: "com.searchlight.activity:x").encoded()
        let query = FakeQueryTransport([.raw(ResultPage(records: [saved], next: nil))])
        await ProcessTransports.$replacement.withValue(.init(query: query, index: index)) {
            await NSUserActivity.deleteAllSavedUserActivities()
            await NSUserActivity.deleteSavedUserActivities(withPersistentIdentifiers: ["a"])
        }
        #expect(lost.sent.count == 3)
    }

    // MARK: The rest

    private struct Payload: Codable, Equatable {
        var page: Int
        var mark: String?
        var moment: Date
    }

    @Test func payloadsTravelInTheUserInfo() throws {
        let activity = NSUserActivity(activityType: "t")
        let payload = Payload(page: 3, mark: nil, moment: Date(timeIntervalSinceReferenceDate: 1))
        activity.userInfo = ["stale": 1]
        try activity.setTypedPayload(payload)
        #expect(activity.userInfo?["page"] as? Int == 3 && activity.userInfo?["stale"] == nil)
        let read = try activity.typedPayload(Payload.self)
        #expect(read == payload)
        #expect(throws: NSUserActivity.TypedPayloadError.encodingError) { try activity.setTypedPayload([1, 2]) }
        activity.userInfo = ["page": "three"]
        #expect(throws: NSUserActivity.TypedPayloadError.invalidContent) { try activity.typedPayload(Payload.self) }
    }

    @Test func userInfoIsAddedTo() {
        let activity = NSUserActivity(activityType: "t")
        activity.addUserInfoEntries(from: ["a": 1, "b": 1])
        activity.addUserInfoEntries(from: ["b": 2])
        #expect(activity.userInfo as? [String: Int] == ["a": 1, "b": 2])
    }

    @Test func defaultsAreApples() {
        let activity = NSUserActivity(activityType: "t")
        #expect(activity.isEligibleForHandoff && !activity.isEligibleForSearch)
        #expect(!activity.isEligibleForPublicIndexing && !activity.isEligibleForPrediction)
        #expect(activity.suggestedInvocationPhrase == nil)
        activity.suggestedInvocationPhrase = "Read on"
        #expect(activity.suggestedInvocationPhrase == "Read on")
        #expect(activity.keywords.isEmpty && activity.userInfo == nil && !activity.needsSave)
        #expect(activity.expirationDate == nil && !activity.supportsContinuationStreams)
    }

    @Test func streamsSayThatThereIsNoHandoff() async {
        let activity = NSUserActivity(activityType: "t")
        do {
            _ = try await activity.continuationStreams()
            Issue.record("There were streams.")
        } catch { #expect((error as? CocoaError)?.code == .featureUnsupported) }
        let heard: (any Error)? = await withCheckedContinuation { continuation in
            activity.getContinuationStreams { _, _, error in continuation.resume(returning: error) }
        }
        #expect(heard?.localizedDescription.contains("Handoff") == true)
    }
}
