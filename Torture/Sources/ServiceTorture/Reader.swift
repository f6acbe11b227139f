// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import MetadataQuery
import SearchIndex
import SearchlightEngine
import TestSupport
import TortureSupport

/// Searches and queries during donations. Each item found must be complete, unique, and at least as
/// new as the last durable batch.
struct Reader: Sendable {
    let place: TorturePlace
    let epoch: Int
    let log: ClientLog

    func run(_ store: RemoteEngine, _ random: inout SplitMix64) async throws {
        while true {
            let donor = random.below(TorturePlace.donors)
            let scope = TorturePlace.scope(donor: donor, epoch: epoch)
            let (choice, word) = (random.below(6), random.pick(TortureBatch.words))
            try await log.timed("searching") {
                switch choice {
                case 0: try await search(store, word, scope.bundle)
                case 1, 2: try await newest(store, scope)
                case 3: try await query(store, word, scope.bundle)
                case 4:
                    let query = try QueryExpression(parsing: "title == \"*\(word)*\"")
                    _ = try await store.perform(CountCall(query, bundle: scope.bundle))
                    _ = try await store.perform(ExplainCall(query))
                default:
                    var search = ItemSearch(word)
                    (search.limit, search.countsUpTo) = (1, 1000)
                    _ = try await store.find(search)
                }
                log.count("searches and queries")
            }
        }
    }

    /// Checks that each hit contains the word and occurs only once.
    private func search(_ store: RemoteEngine, _ word: String, _ bundle: String) async throws {
        var request = ItemSearch(word, bundle: bundle)
        request.limit = 50
        request.attributes = ["title", "keywords", "contentDescription"]
        var seen: Set<Int64> = []
        for _ in 0..<3 {
            let page = try await store.find(request)
            for hit in page.hits {
                let texts = ["title", "keywords", "contentDescription"].flatMap { hit.item.record.texts($0) }
                if !texts.contains(where: { $0.contains(word) }) {
                    log.complain("a search for \(word) found \(hit.item.record.uniqueIdentifier), which has it not")
                }
                if !seen.insert(hit.item.number).inserted {
                    log.complain("a search for \(word) found \(hit.item.record.uniqueIdentifier) twice")
                }
            }
            guard let next = page.next else { return }
            request.cursor = next
        }
    }

    /// Checks the item that every batch replaces: it must be neither older than the state before
    /// the query nor newer than the state after it.
    private func newest(_ store: RemoteEngine, _ scope: IndexScope) async throws {
        let before = try await Donor.state(store, scope)
        let query = try QueryExpression(parsing: "title == \"*\" && pageCount >= \(max(0, before - 1))")
        let page = try await store.items(matching: query, bundle: scope.bundle, limit: 200)
        let after = try await Donor.state(store, scope)
        guard page.next == nil, let item = page.items.first(where: { $0.record.uniqueIdentifier == "latest" }),
            case .integer(let number)? = item.record.attributes["pageCount"]
        else { return }
        if Int(number) < before || Int(number) > after {
            log.complain("\(scope.bundle): the newest is of batch \(number); the state was \(before), then \(after)")
        }
    }

    /// Checks that the pages have no gaps and no overlaps.
    private func query(_ store: RemoteEngine, _ word: String, _ bundle: String) async throws {
        let query = try QueryExpression(parsing: "keywords == \"\(word)\"")
        var (last, cursor): (Int64, QueryCursor?) = (0, nil)
        for _ in 0..<4 {
            let page = try await store.items(matching: query, bundle: bundle, limit: 20, after: cursor)
            for item in page.items {
                if !item.record.texts("keywords").contains(word) {
                    log.complain("a query for \(word) found \(item.record.uniqueIdentifier), which has it not")
                }
                if item.number <= last {
                    log.complain("a query for \(word) gave \(item.record.uniqueIdentifier) out of order")
                }
                last = item.number
            }
            guard let next = page.next else { return }
            cursor = next
        }
    }
}
