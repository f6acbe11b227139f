// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ExtensionHost
import MetadataQuery
import Previews
import Promises
import SearchIndex

/// The store and its extensions as a command asks them: an engine of this process (``SearchlightEngine``), or that of the
/// service (``RemoteEngine``). Both answer the same.
///
/// May be used from any task. Every method throws ``EngineError``.
public protocol StoreService: Sendable {
    /// What was found when the store was opened. A service tells what was lost to the first who asks.
    func opening() async throws(EngineError) -> StoreOpening

    /// The extensions that are found, those refused, and where they were looked for.
    func extensions() async throws(EngineError) -> InstalledExtensions

    /// The extensions with their states, those that are not used, and those that are gone.
    func extensionListing() async throws(EngineError) -> ExtensionListing

    /// Everything that is known of one extension; ``ExtensionError/notFound(identifier:searchPath:known:)`` if nothing is.
    func extensionDetails(of identifier: String) async throws(EngineError) -> ExtensionDetails

    /// Where extensions are looked for.
    func extensionPlaces() async throws(EngineError) -> [ExtensionPlace]

    /// Has an extension used, or not any more. Its items stay.
    func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws(EngineError)

    /// Forgets what is held against an extension, so that it is asked again.
    ///
    /// - Returns: What was held against it.
    func releaseExtension(_ identifier: String) async throws(EngineError) -> ExtensionHealthReport

    /// Removes everything there is of a bundle: its items, its client states and what it owes.
    ///
    /// - Returns: How many items there were.
    func forgetBundle(_ bundle: String) async throws(EngineError) -> Int

    /// Has an extension donate some items again, or delete them; returns once it has acknowledged.
    ///
    /// - Returns: How many items the bundle has then.
    func reindexItems(
        _ items: Set<String>, of identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int

    /// How much of what there is, what was wrong and what is owed.
    ///
    /// - Parameter isExact: Whether everything is measured, however long that takes.
    func status(isExact: Bool) async throws(EngineError) -> StoreStatus

    /// What is durable and cannot be found yet.
    func pendingDonations() async throws(EngineError) -> PendingDonations

    /// How many items each bundle has.
    func itemCounts() async throws(EngineError) -> [String: Int]

    /// The reindexes that are owed: asked for and not acknowledged.
    func owedReindexes() async throws(EngineError) -> [OwedJob]

    /// Finds items by words, best first, and answers with what the search asks for.
    func find(_ search: ItemSearch) async throws(EngineError) -> FoundItems

    /// The items that satisfy a query, a page at a time, in the order in which they were first donated.
    ///
    /// - Parameters:
    ///   - query: What is asked.
    ///   - bundle: Only items of this bundle; `nil` means all.
    ///   - limit: At most so many, 1 to ``SearchIndex/maximumPage``.
    ///   - cursor: Where the page before ended; `nil` for the first.
    ///   - place: Where the person is who asks.
    func items(
        matching query: QueryExpression, bundle: String?, limit: Int, after cursor: QueryCursor?, place: QueryPlace
    ) async throws(EngineError) -> QueryPage

    /// How many items satisfy a query.
    func count(
        matching query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> Int

    /// How a query would be answered; nothing is searched.
    func explain(
        _ query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> QueryPlan

    /// The one item that is meant by a name: `@` and its number, or its unique identifier. Among its errors are
    /// ``EngineError/itemNotFound(_:)``, ``EngineError/itemElsewhere(_:bundle:bundles:)``, when only other bundles have one,
    /// and ``EngineError/ambiguousItem(_:candidates:)``, when several have.
    func item(named name: String, bundle: String?) async throws(EngineError) -> StoredItem

    /// What a person is shown of an item: rendered by its app or its extension, or from its attributes when both are
    /// missing, render none, render what may not be shown, or fail. HTML was written anew by `HTMLSanitizer`. Once nobody
    /// waits any more it throws, and does nothing further.
    func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview

    /// Has an item's app, if that is registered as a delegate, or its extension fulfil a promise.
    ///
    /// - Parameters:
    ///   - mayRetry: Whether a worker that ends meanwhile is followed by another, once.
    ///   - onProgress: Told how far an extension says it has come; on any thread, must not block.
    func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(EngineError) -> ProvidedContent

    /// Says that a person is about to drag an item of a bundle: its worker is started, so that it need not be waited for.
    /// Returns before it is ready, and says nothing if it cannot be started.
    func prewarm(_ bundle: String) async

    /// Has an extension donate everything again; returns once it has acknowledged.
    ///
    /// What the extension deletes as a whole stays findable until then, and is deleted if it was not donated again. The
    /// request is written down before it is made. If it fails, nothing that was there is gone, and it stays owed:
    /// ``owedReindexes()`` shows it until a later reindex of the same bundle is acknowledged. An extension that reindexes in
    /// pages goes on where an earlier attempt has ended, if what that brought still holds.
    ///
    /// - Parameters:
    ///   - identifier: The bundle identifier.
    ///   - onEvent: Told what this extension does meanwhile; called on any thread, must not block.
    /// - Returns: How many items the bundle has then.
    func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int

    /// Has an extension, never its app, donate everything to nobody, and compares that with what the index has of it. Nothing
    /// of the index changes, nor what is owed.
    func compare(_ identifier: String) async throws(EngineError) -> Comparison

    /// Makes a batch durable: all of it, its client state included, or nothing; see
    /// ``SearchIndex/commit(_:clientState:expecting:)``.
    ///
    /// - Parameters:
    ///   - batch: The changes, in order.
    ///   - clientState: The state from now on; `nil` leaves it as it is. At most 250 bytes.
    ///   - expectation: What the state must be for this batch to be accepted.
    func commit(
        _ batch: IndexBatch, clientState: [UInt8]?, expecting expectation: ClientStateExpectation
    ) async throws(EngineError)

    /// The client state of the last batch of a scope; `nil` if there is none. An engine that only reads knows what was
    /// durable when it was opened, unless ``StoreOpening/waitingEntries`` says otherwise, and what was applied since.
    func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]?

    /// Returns when everything that was durable before can be found.
    func settle() async throws(EngineError)

    /// What was durable and was left out of one scope since a mark; only the next mark without one.
    func rejections(in scope: IndexScope, after mark: Rejections.Mark?) async throws(EngineError) -> Rejections

    /// Ends what was opened for this command. Call it once, when done; nothing may be asked afterwards.
    func close() async
}
