// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import SearchIndex
import SearchlightEngine
import TortureSupport

extension EngineClient {
    /// Returns all items of a bundle, in query order.
    func allItems(of bundle: String) async throws -> [StoredItem] {
        var (items, cursor): ([StoredItem], QueryCursor?) = ([], nil)
        repeat {
            let page = try await self.items(matching: .and([]), bundle: bundle, limit: 1000, after: cursor)
            items += page.items
            cursor = page.next
        } while cursor != nil
        return items
    }
}

/// The expected items in a donor's scope after a batch.
struct DonatedItems {
    let donor: Int
    let epoch: Int
    let number: Int

    private var expected: [String: ItemRecord] {
        var model = Donor.model(donor: donor, epoch: epoch)
        model.advance(to: number)
        return model.items
    }

    /// Returns a description of the first difference; nil if there is none.
    ///
    /// - Parameter partly: `true` if items may be missing; the existing items must still be
    ///   correct.
    func difference(in store: any EngineClient, partly: Bool = false) async throws -> String? {
        let bundle = TorturePlace.scope(donor: donor, epoch: epoch).bundle
        var rest = expected
        let items = try await store.allItems(of: bundle)
        for item in items {
            let name = item.record.uniqueIdentifier
            guard let wanted = rest.removeValue(forKey: name) else {
                return "\(name) is there twice or should not be there"
            }
            if item.record != wanted { return "\(name) is torn: \(item.record), not \(wanted)" }
        }
        if !partly, !rest.isEmpty { return "missing: \(rest.keys.sorted().prefix(5)) of \(items.count + rest.count)" }
        // The full-text index must agree with the item table.
        var search = ItemSearch(TortureBatch.commonWord + " ", bundle: bundle)
        (search.limit, search.countsUpTo) = (1, .max)
        let found = try await store.find(search).total?.count
        return partly || found == items.count ? nil : "\(found ?? 0) of \(items.count) items are found by their word"
    }
}
