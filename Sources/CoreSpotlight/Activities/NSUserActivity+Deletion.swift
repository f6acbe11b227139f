// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
import UniformTypeIdentifiers

extension NSUserActivity {
    class func delete(
        _ persistentIdentifiers: [NSUserActivityPersistentIdentifier], _ handler: @escaping @Sendable () -> Void
    ) {
        let identifiers = persistentIdentifiers.map(ActivityItem.identifier)
        ProcessTransports.defaultIndex().deleteSearchableItems(withIdentifiers: identifiers) { _ in handler() }
    }

    class func deleteAll(_ handler: @escaping @Sendable () -> Void) {
        let index = ProcessTransports.defaultIndex()
        let transport = try? ProcessTransports.query()
        let (isDone, done) = AsyncStream.makeStream(of: Void.self)
        // The deletion is sent at once, because an app's requests are processed in the order in
        // which the app makes them.
        index.deleteSearchableItems(withDomainIdentifiers: [ActivityItem.domain]) { _ in done.finish() }
        Task.detached {
            let identifiers = if let transport { await saved(transport) } else { [String]() }
            if !identifiers.isEmpty { try? await index.deleteSearchableItems(withIdentifiers: identifiers) }
            for await _ in isDone {}
            HandlerQueue.shared.async { handler() }
        }
    }

    /// The maximum number of activities with their own domains that one call deletes.
    private static let maximumDeletionCount = 100_000

    /// Returns the identifiers of the items that were donated for activities, to the extent that
    /// they can be read.
    private class func saved(_ transport: any QueryTransport) async -> [String] {
        var identifiers: [String] = []
        var cursor: [UInt8]? = []
        while let place = cursor, identifiers.count < maximumDeletionCount {
            let request = ResultPageRequest(
                kind: .query, text: "\(ActivityItem.typeKey) == \"*\"", filters: [], attributes: [], cursor: place,
                limit: ResultPagePlan.pageSize)
            let page = try? await transport.page(request, number: ProcessTransports.nextNumber())
            identifiers += page?.records.compactMap { try? ItemRecord(decoding: $0).uniqueIdentifier } ?? []
            cursor = page?.next.flatMap { $0.isEmpty ? nil : $0 }
        }
        return identifiers.filter { $0.hasPrefix(ActivityItem.identifierPrefix) }
    }
}
