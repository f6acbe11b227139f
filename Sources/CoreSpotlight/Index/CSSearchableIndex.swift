// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The index of an app: what the app donates here, people find.
///
/// Requests are carried out in the order in which they are made, also when nobody waits for them. A request is complete,
/// and its handler called or the `await` over, when it is durable; the items can be found within a second. Large calls are
/// cut into parts of 256 items or 1 MiB: each part is durable wholly or not at all, and after an error some may be. Making
/// the same call again is harmless then.
///
/// Handlers are called once, on any thread. Calls with a handler, or with none, hold up the caller while more than 16 MiB
/// wait to be sent. Every error is a ``CSIndexError``.
open class CSSearchableIndex: NSObject, @unchecked Sendable {
    // Sendable: name and sender never change, and the delegate is read and written under the lock only.

    /// `nil` for the default index.
    let name: String?
    /// Where requests go; `nil` for the connection of the process.
    private let sender: RequestSender?
    private let lock = NSLock()
    private weak var lockedDelegate: (any CSSearchableIndexDelegate)?

    /// The longest client state, in bytes.
    static let maximumClientStateBytes = 250

    private static let shared = CSSearchableIndex(name: nil, sender: nil)

    /// The index of the app for everything that needs no batches.
    open class func `default`() -> CSSearchableIndex { shared }

    /// An index with a name, which can have batches and a client state.
    public init(name: String) {
        self.name = name
        sender = nil
    }

    /// An index with a name.
    ///
    /// - Note: Differs on Linux: there are no protection classes. The index is readable by its owner alone, and
    ///   encrypted if the disk is.
    public init(name: String, protectionClass: FileProtectionType?) {
        self.name = name
        sender = nil
    }

    init(name: String?, sender: RequestSender?) {
        self.name = name
        self.sender = sender
    }

    /// Whether this process can reach an index now.
    open class func isIndexingAvailable() -> Bool { (try? ProcessSenders.only()) != nil }

    /// Whom the index asks for items while the app runs; not retained. In an extension the request handler is asked.
    open weak var indexDelegate: (any CSSearchableIndexDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set { lock.withLock { lockedDelegate = newValue } }
    }

    // MARK: Items

    /// Adds items to the index, or replaces or updates those with the same identifiers. Items that cannot be indexed fail
    /// the call with ``CSIndexError/Code/invalidItemError``; the others are indexed.
    @preconcurrency
    open func indexSearchableItems(
        _ items: [CSSearchableItem], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit(Self.prepare(items), completionHandler)
    }

    /// Adds items to the index, or replaces or updates those with the same identifiers. Items that cannot be indexed fail
    /// the call with ``CSIndexError/Code/invalidItemError``; the others are indexed.
    nonisolated(nonsending) open func indexSearchableItems(_ items: [CSSearchableItem]) async throws {
        try await submit(Self.prepare(items))
    }

    /// Deletes the items with these identifiers; identifiers of no item are ignored.
    @preconcurrency
    open func deleteSearchableItems(
        withIdentifiers identifiers: [String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(identifiers, IndexRequest.deleteItems), nil), completionHandler)
    }

    /// Deletes the items with these identifiers; identifiers of no item are ignored.
    nonisolated(nonsending) open func deleteSearchableItems(withIdentifiers identifiers: [String]) async throws {
        try await submit((IndexRequest.delete(identifiers, IndexRequest.deleteItems), nil))
    }

    /// Deletes the items in these domains and in all domains below them: `a` takes `a.b` along, not `ab`.
    @preconcurrency
    open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String],
        completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(domainIdentifiers, IndexRequest.deleteDomains), nil), completionHandler)
    }

    /// Deletes the items in these domains and in all domains below them: `a` takes `a.b` along, not `ab`.
    nonisolated(nonsending) open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String]
    ) async throws {
        try await submit((IndexRequest.delete(domainIdentifiers, IndexRequest.deleteDomains), nil))
    }

    /// Deletes all items of this index, and its client state.
    @preconcurrency
    open func deleteAllSearchableItems(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        submit(([.deleteAll], nil), completionHandler)
    }

    /// Deletes all items of this index, and its client state.
    nonisolated(nonsending) open func deleteAllSearchableItems() async throws {
        try await submit(([.deleteAll], nil))
    }

    // MARK: Batches

    /// Begins a batch.
    ///
    /// - Note: Fails on Linux: ending the batch fails with ``CSIndexError/Code/indexingUnsupported``, since batches are
    ///   not served yet; calls up to there are carried out as they come.
    open func beginBatch() {}

    /// Ends a batch and stores a client state of at most 250 bytes with it.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    @preconcurrency
    open func endBatch(
        withClientState clientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error = refusal(of: clientState)
        deliver(error, completionHandler)
    }

    /// Ends a batch and stores a client state of at most 250 bytes with it.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    nonisolated(nonsending) open func endBatch(withClientState clientState: Data) async throws {
        throw refusal(of: clientState)
    }

    /// Ends a batch if the stored client state is the expected one, and stores a new one with it.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    @preconcurrency
    open func endIndexBatch(
        expectedClientState: Data?, newClientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let error = refusal(of: newClientState)
        deliver(error, completionHandler)
    }

    /// Ends a batch if the stored client state is the expected one, and stores a new one with it.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    nonisolated(nonsending) open func endIndexBatch(expectedClientState: Data?, newClientState: Data) async throws {
        throw refusal(of: newClientState)
    }

    /// Reads the client state of the last batch.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    @preconcurrency
    open func fetchLastClientState(completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        let error = refusal(of: Data())
        deliver(error) { completionHandler(nil, $0) }
    }

    /// Reads the client state of the last batch.
    ///
    /// - Note: Fails on Linux: with ``CSIndexError/Code/indexingUnsupported``, since batches are not served yet.
    nonisolated(nonsending) open func fetchLastClientState() async throws -> Data { throw refusal(of: Data()) }
}

// MARK: Sending

extension CSSearchableIndex {
    private typealias Prepared = (requests: [IndexRequest], error: CSIndexError?)

    private static func prepare(_ items: [CSSearchableItem]) -> Prepared { IndexRequest.index(items) }

    private func submit(_ prepared: Prepared, _ handler: (@Sendable ((any Error)?) -> Void)?) {
        submit(prepared, holdsUp: true) { self.deliver($0, handler) }
    }

    private nonisolated(nonsending) func submit(_ prepared: Prepared) async throws {
        let error = await withCheckedContinuation { continuation in
            submit(prepared, holdsUp: false) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }

    private func submit(_ prepared: Prepared, holdsUp: Bool, completion: @escaping @Sendable (CSIndexError?) -> Void) {
        do throws(CSIndexError) {
            if let name, name.isEmpty || name.utf8.contains(0) || name.utf8.count > 255 {
                throw CSIndexError(.indexUnavailableError, "An index has a name of 1 to 255 bytes without NUL.")
            }
            let (requests, itemError) = prepared
            let connected = if let sender { sender } else { try ProcessSenders.only() }
            connected.submit(requests, to: name, holdsUp: holdsUp) { completion(itemError ?? $0) }
        } catch {
            completion(error)
        }
    }

    private func deliver(_ error: CSIndexError?, _ handler: (@Sendable ((any Error)?) -> Void)?) {
        guard let handler else { return }
        HandlerQueue.shared.async { handler(error) }
    }

    private func refusal(of clientState: Data) -> CSIndexError {
        if clientState.count > Self.maximumClientStateBytes {
            return CSIndexError(
                .invalidClientStateError,
                "The client state has \(clientState.count) bytes, and the limit is \(Self.maximumClientStateBytes). "
                    + "Store a digest instead.")
        }
        if name == nil {
            return CSIndexError(
                .indexingUnsupported,
                "The default index has no batches and no client state. Use CSSearchableIndex(name:).")
        }
        return CSIndexError(
            .indexingUnsupported,
            "Batches with a client state are not served yet. Items of the batch were indexed as they came; do without "
                + "beginBatch and the client state.")
    }
}
