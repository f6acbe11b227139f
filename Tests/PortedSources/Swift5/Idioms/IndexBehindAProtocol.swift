// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

protocol SearchableIndexing {
    func indexSearchableItems(_ items: [CSSearchableItem]) async throws
    func deleteSearchableItems(withIdentifiers identifiers: [String]) async throws
    func deleteSearchableItems(withDomainIdentifiers domainIdentifiers: [String]) async throws
    func deleteAllSearchableItems() async throws
}

extension CSSearchableIndex: SearchableIndexing {}
