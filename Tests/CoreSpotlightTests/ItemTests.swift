// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import CoreSpotlight

@Suite("Searchable items")
struct ItemTests {
    private func item(_ configure: (CSSearchableItem) -> Void = { _ in }) -> CSSearchableItem {
        let item = CSSearchableItem(
            uniqueIdentifier: "1", domainIdentifier: "a.b", attributeSet: CSSearchableItemAttributeSet())
        configure(item)
        return item
    }

    @Test func withoutAnIdentifierOneIsMade() {
        let item = CSSearchableItem(
            uniqueIdentifier: nil, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
        #expect(UUID(uuidString: item.uniqueIdentifier) != nil)
        #expect(CSSearchableItem().uniqueIdentifier != CSSearchableItem().uniqueIdentifier)
    }

    @Test func expirationIsAMonthAwayUnlessSet() throws {
        let item = item()
        let days = try #require(item.expirationDate).timeIntervalSinceNow / 86_400
        #expect((27.9...31.1).contains(days))
        #expect(item.record.expiration == .standard)
        item.expirationDate = Date(timeIntervalSinceReferenceDate: 9)
        #expect(item.record.expiration == .at(9))
        item.expirationDate = .distantFuture
        #expect(item.record.expiration == .never)
        item.expirationDate = Date(timeIntervalSinceReferenceDate: .infinity)
        #expect(item.record.expiration == .never)
        item.expirationDate = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(item.record.expiration == .standard)
        item.expirationDate = nil
        #expect(item.record.expiration == .standard)
        #expect(item.expirationDate.timeIntervalSinceNow > 0)
    }

    @Test func recordsCarryWhatTheItemSays() {
        let item = item {
            $0.attributeSet.title = "t"
            $0.attributeSet.subject = nil
        }
        #expect(
            item.record
                == ItemRecord(uniqueIdentifier: "1", domainIdentifier: "a.b", attributes: ["title": .string("t")]))
    }

    @Test func onlyUpdatesCarryRemovedAttributes() {
        let item = item {
            $0.isUpdate = true
            $0.attributeSet.subject = nil
        }
        #expect(item.record.isUpdate)
        #expect(item.record.attributes == ["subject": .null])
    }

    @Test(arguments: [ItemRecord.Expiration.standard, .never, .at(123.5)])
    func itemsMadeFromRecordsGiveTheSameRecords(_ expiration: ItemRecord.Expiration) {
        let record = ItemRecord(
            uniqueIdentifier: "x", domainIdentifier: nil, expiration: expiration, isUpdate: true,
            attributes: ["title": .localizedString(["de": "t"]), "custom": .array([.null, .boolean(true)])])
        #expect(CSSearchableItem(record).record == record)
    }

    @Test func copiesAreIndependent() throws {
        let item = item {
            $0.attributeSet.title = "one"
            $0.isUpdate = true
            $0.updateListenerOptions = [.summarization, .priority]
            $0.expirationDate = .distantFuture
            $0.rank = 2
        }
        let copy = try #require(item.copy() as? CSSearchableItem)
        #expect(copy.record == item.record && copy.rank == 2)
        #expect(copy.updateListenerOptions.rawValue == 6)
        item.attributeSet.title = "two"
        #expect(copy.attributeSet.title == "one")
    }

    @Test func theAttributeSetIsShared() {
        let set = CSSearchableItemAttributeSet()
        let item = CSSearchableItem(uniqueIdentifier: "1", domainIdentifier: nil, attributeSet: set)
        set.title = "later"
        #expect(item.attributeSet.title == "later")
    }

    @Test func archivesBringItemsBack() throws {
        let item = item {
            $0.attributeSet.title = "one"
            $0.expirationDate = .distantFuture
            $0.updateListenerOptions = .priority
        }
        let data = try NSKeyedArchiver.archivedData(withRootObject: item, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchableItem.self, from: data)
        #expect(read?.record == item.record)
        #expect(read?.updateListenerOptions == .priority)
    }

    @Test func theBetterItemIsAscendingByRankSoThatSortingPutsItFirst() {
        let low = item { $0.rank = 1 }
        let high = item { $0.rank = 2 }
        let none = item()
        #expect(high.compare(byRank: low) == .orderedAscending)
        #expect(low.compare(byRank: high) == .orderedDescending)
        #expect(low.compare(byRank: low) == .orderedSame)
        #expect(low.compare(byRank: none) == .orderedAscending)
        #expect(none.compare(byRank: low) == .orderedDescending)
        #expect(none.compare(byRank: item()) == .orderedSame)
    }
}

@Suite("Index errors")
struct IndexErrorTests {
    @Test func codesHaveTheirNumbers() {
        let numbers: [(CSIndexError.Code, Int)] = [
            (.unknownError, -1), (.indexUnavailableError, -1000), (.invalidItemError, -1001),
            (.invalidClientStateError, -1002),
            (.remoteConnectionError, -1003), (.quotaExceeded, -1004), (.indexingUnsupported, -1005),
            (.mismatchedClientState, -1006),
        ]
        for (code, number) in numbers {
            #expect(code.rawValue == number)
            let error = CSIndexError(code, userInfo: [NSLocalizedDescriptionKey: "why"])
            let bridged = error as NSError
            #expect(bridged.domain == CSIndexErrorDomain && bridged.code == number)
            #expect(bridged.localizedDescription == "why")
            #expect((error as any Error).localizedDescription == "why")
        }
        #expect(CSIndexError.quotaExceeded == .quotaExceeded)
        #expect(CSIndexError.Code(rawValue: -7) == nil)
    }

    @Test func aCodeCanBeCaught() {
        func fail() throws { throw CSIndexError(.quotaExceeded) }
        var caught = ""
        do {
            try fail()
        } catch CSIndexError.unknownError {
            caught = "unknown"
        } catch CSIndexError.quotaExceeded {
            caught = "quota"
        } catch {
            caught = "other"
        }
        #expect(caught == "quota")
    }
}
