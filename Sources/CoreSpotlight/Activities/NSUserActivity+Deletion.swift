// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ServiceProtocol

extension NSUserActivity {
    /// Deletes the activities with these persistent identifiers from the index, then calls the handler, on a queue of the
    /// library. Identifiers of no activity are ignored. As Apple's method has no errors, a deletion that fails is not
    /// reported: activities in an index that cannot be reached stay.
    @preconcurrency
    public class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier],
        completionHandler handler: @escaping @Sendable () -> Void
    ) {
        let identifiers = persistentIdentifiers.map(ActivityItem.identifier)
        ProcessTransports.defaultIndex().deleteSearchableItems(withIdentifiers: identifiers) { _ in handler() }
    }

    /// Deletes the activities with these persistent identifiers from the index. Identifiers of no activity are ignored.
    /// As Apple's method has no errors, a deletion that fails is not reported: activities in an index that cannot be reached
    /// stay.
    public class func deleteSavedUserActivities(
        withPersistentIdentifiers persistentIdentifiers: [NSUserActivityPersistentIdentifier]
    ) async {
        await withCheckedContinuation { continuation in
            deleteSavedUserActivities(withPersistentIdentifiers: persistentIdentifiers) { continuation.resume() }
        }
    }

    /// Deletes all activities of the app from the index, then calls the handler, on a queue of the library. Those with a
    /// domain of their own are looked for in the index, 100,000 at most; in an extension, which cannot query, they stay. As Apple's method
    /// has no errors, a deletion that fails is not reported: activities in an index that cannot be reached stay.
    @preconcurrency
    public class func deleteAllSavedUserActivities(completionHandler handler: @escaping @Sendable () -> Void) {
        let index = ProcessTransports.defaultIndex()
        let transport = try? ProcessTransports.query()
        let (isDone, done) = AsyncStream.makeStream(of: Void.self)
        // Sent at once, for the requests of an app are carried out in the order in which it makes them.
        index.deleteSearchableItems(withDomainIdentifiers: [ActivityItem.domain]) { _ in done.finish() }
        Task.detached {
            let identifiers = if let transport { await saved(transport) } else { [String]() }
            if !identifiers.isEmpty { try? await index.deleteSearchableItems(withIdentifiers: identifiers) }
            for await _ in isDone {}
            HandlerQueue.shared.async { handler() }
        }
    }

    /// Deletes all activities of the app from the index. Those with a domain of their own are looked for in the index, 100,000 at
    /// most; in an extension, which cannot query, they stay. As Apple's method has no errors, a deletion that fails is not reported:
    /// activities in an index that cannot be reached stay.
    public class func deleteAllSavedUserActivities() async {
        await withCheckedContinuation { continuation in
            deleteAllSavedUserActivities { continuation.resume() }
        }
    }

    /// The most activities with domains of their own that one call deletes.
    private static let maximumDeletionCount = 100_000

    /// The identifiers of all items that were donated for activities; as many as could be read.
    private class func saved(_ transport: any QueryTransport) async -> [String] {
        var identifiers: [String] = []
        var cursor: [UInt8]? = []
        while let place = cursor, identifiers.count < maximumDeletionCount {
            let request = PageRequest(
                kind: .query, text: "\(ActivityItem.typeKey) == \"*\"", filters: [], attributes: [], cursor: place,
                limit: QueryPlan.pageSize)
            let page = try? await transport.page(request, number: ProcessTransports.nextNumber())
            identifiers += page?.records.compactMap { try? ItemRecord(decoding: $0).uniqueIdentifier } ?? []
            cursor = page?.next.flatMap { $0.isEmpty ? nil : $0 }
        }
        return identifiers.filter { $0.hasPrefix(ActivityItem.identifierPrefix) }
    }
}
