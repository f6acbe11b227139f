// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
import Foundation
internal import ServiceMessages
import UniformTypeIdentifiers

/// The index of an app: what the app donates here, people find.
///
/// Requests are carried out in the order in which they are made, also when nobody waits for them. A request is complete,
/// and its handler called or the `await` over, when it is durable; the items can be found within a second. Large calls are
/// cut into parts of 256 items or 1 MiB: each part is durable wholly or not at all, and after an error some may be. Making
/// the same call again is harmless then; a batch is durable wholly or not at all. Every error is a ``CSIndexError``.
///
/// **Handlers.** Each is called once, on the library's own concurrent queue `searchlight.index.handlers`: never on the main
/// thread, on the thread of the caller or on one that carries messages; so it may block, and several may run at once. It is
/// called also when the index object was released meanwhile, since the request does not need it. When the process exits,
/// handlers that were not called yet are not called, and what was not complete may be durable or not.
///
/// **Cancellation.** A task that is cancelled while it awaits a request goes on waiting for its end: the request was made
/// and is carried out, as on Apple's systems.
///
/// Calls with a handler, or with none, hold up the caller while more than 16 MiB are not complete. A process that forks
/// must not use the library in the child, unless that calls `exec`.
open class CSSearchableIndex: NSObject, @unchecked Sendable {
    // Sendable: name and sender never change; the delegate and the batch are read and written under the lock only.

    /// The protection class that the index was made with; `completeUntilFirstUserAuthentication` if with none.
    ///
    /// - Note: Unused on Linux: there are no protection classes.
    public let protectionClass: FileProtectionType

    /// `nil` for the default index.
    let name: String?
    /// Where requests go; `nil` for the connection of the process.
    let sender: RequestSender?
    private let delegates: IndexDelegates?
    private let lock = NSLock()
    private weak var lockedDelegate: (any CSSearchableIndexDelegate)?
    private var lockedBatch: ChangeList?

    private static let shared = CSSearchableIndex(name: nil, sender: nil, delegates: ProcessService.delegates)

    /// The index of the app for everything that needs no batches.
    open class func `default`() -> CSSearchableIndex { shared }

    /// An index with a name, which can have batches and a client state.
    public init(name: String) {
        self.name = name
        protectionClass = .completeUntilFirstUserAuthentication
        sender = nil
        delegates = ProcessService.delegates
    }

    /// An index with a name.
    ///
    /// - Note: Differs on Linux: there are no protection classes. The index is readable by its owner alone, and
    ///   encrypted if the disk is.
    public init(name: String, protectionClass: FileProtectionType?) {
        self.name = name
        self.protectionClass = protectionClass ?? .completeUntilFirstUserAuthentication
        sender = nil
        delegates = ProcessService.delegates
    }

    /// - Parameter delegates: Where the delegate is made known; nowhere for `nil`.
    init(name: String?, sender: RequestSender?, delegates: IndexDelegates? = nil) {
        self.name = name
        protectionClass = .completeUntilFirstUserAuthentication
        self.sender = sender
        self.delegates = delegates
    }

    deinit { delegates?.remove(ObjectIdentifier(self)) }

    /// Whether this process can reach an index now. An app may be connected for the answer, which takes up to five seconds.
    open class func isIndexingAvailable() -> Bool { ProcessSenders.isAvailable }

    /// Whom the index asks for items while the app runs; not retained. In an extension the request handler is asked.
    ///
    /// While any index of the app has a delegate, the service asks the app instead of its extension: to reindex, of all
    /// delegates, each with its index, and all must acknowledge; for what an item promised, of one after the other until one
    /// has it. Setting the delegate connects to the service in the background, and again after a restart of the service.
    open weak var indexDelegate: (any CSSearchableIndexDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set {
            lock.withLock { lockedDelegate = newValue }
            delegates?.set(newValue != nil, for: self)
        }
    }

    // MARK: Items

    /// Adds items to the index, or replaces or updates those with the same identifiers. Items that cannot be indexed fail
    /// the call with ``CSIndexError/Code/invalidItemError``; the others are indexed.
    @preconcurrency
    open func indexSearchableItems(
        _ items: [CSSearchableItem], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit(IndexRequest.index(items), completionHandler)
    }

    /// Adds items to the index, as ``indexSearchableItems(_:completionHandler:)`` does.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func indexSearchableItems(_ items: [CSSearchableItem]) async throws {
        try await submit(IndexRequest.index(items))
    }

    /// Deletes the items with these identifiers; identifiers of no item are ignored.
    @preconcurrency
    open func deleteSearchableItems(
        withIdentifiers identifiers: [String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(identifiers, EncodedChange.deleteItems), nil), completionHandler)
    }

    /// Deletes the items with these identifiers; identifiers of no item are ignored.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteSearchableItems(withIdentifiers identifiers: [String]) async throws {
        try await submit((IndexRequest.delete(identifiers, EncodedChange.deleteItems), nil))
    }

    /// Deletes the items in these domains and in all domains below them: `a` takes `a.b` along, not `ab`.
    @preconcurrency
    open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String],
        completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(domainIdentifiers, EncodedChange.deleteDomains), nil), completionHandler)
    }

    /// Deletes the items in these domains and in all domains below them.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String]
    ) async throws {
        try await submit((IndexRequest.delete(domainIdentifiers, EncodedChange.deleteDomains), nil))
    }

    /// Deletes all items of this index, and its client state.
    @preconcurrency
    open func deleteAllSearchableItems(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        submit(([.deleteAll], nil), completionHandler)
    }

    /// Deletes all items of this index, and its client state.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteAllSearchableItems() async throws {
        try await submit(([.deleteAll], nil))
    }

    /// Gives items other identifiers, by those they have. A renamed item stays the item that it is: it keeps its
    /// dates, its attributes and its number, to which belong the uses from which searches learn.
    ///
    /// Rename an item whose identifier says where something lies, such as the path of a file that was moved. Then index
    /// it again if its attributes say so too. Deleted and indexed under another identifier, it would be another item, of
    /// which nothing is known.
    ///
    /// ```swift
    /// index.renameSearchableItems([old.path: new.path])
    /// index.indexSearchableItems([item(of: new)]) { error in acknowledge(error) }
    /// ```
    ///
    /// - All renames of a call are carried out at once, so two items can swap their identifiers.
    /// - An item that has the new identifier is replaced, its number with it, unless the same call renames it.
    /// - An item that is not in the index is passed over. Items of earlier calls are there.
    /// - Items whose `relatedUniqueIdentifier` names a renamed one name it by its new identifier.
    ///
    /// A call is carried out wholly or not at all. It may have 524,287 renames and 32 MiB. Apple has no such method.
    ///
    /// - Parameters:
    ///   - identifiers: The new identifiers, by those that the items have. Each is of 1 to 4,096 bytes of UTF-8 without
    ///     NUL, and occurs once.
    ///   - completionHandler: Called once when the renames are durable, or with a ``CSIndexError``:
    ///     ``CSIndexError/Code/invalidItemError`` for a new identifier that no item can have, or that two items would have,
    ///     ``CSIndexError/Code/quotaExceeded`` for too many, ``CSIndexError/Code/indexingUnsupported`` from an older host.
    ///     After ``CSIndexError/Code/remoteConnectionError`` it is not known whether the items have their new identifiers.
    ///     To make the call again is harmless then, unless its renames swap or follow each other; index those items again.
    @preconcurrency
    open func renameSearchableItems(
        _ identifiers: [String: String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit(IndexRequest.rename(identifiers), completionHandler)
    }

    /// Gives items other identifiers, as ``renameSearchableItems(_:completionHandler:)`` does.
    ///
    /// ```swift
    /// try await index.renameSearchableItems([old.path: new.path])
    /// try await index.indexSearchableItems([item(of: new)])
    /// ```
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func renameSearchableItems(_ identifiers: [String: String]) async throws {
        try await submit(IndexRequest.rename(identifiers))
    }

    // MARK: Batches

    /// Begins a batch: what is indexed and deleted on this object from now on waits in memory, at most 32 MiB of it, and
    /// becomes durable together with a client state when the batch is ended. Nothing of it is anywhere before.
    ///
    /// Calls inside a batch are complete as soon as they are part of it, so they may be awaited before it is ended. A call
    /// that would make the batch too large fails with ``CSIndexError/Code/quotaExceeded``; the batch stays as it was.
    ///
    /// The next batch may begin as soon as the end of this one was called. Beginning a batch while one is open changes
    /// nothing: it stays open, with the calls so far. A batch that is open when the index is released is forgotten. The
    /// default index has no batches: calls on it are carried out as they come.
    open func beginBatch() {
        guard name != nil else { return }
        lock.withLock { lockedBatch = lockedBatch ?? ChangeList() }
    }

    /// Ends the batch: makes its calls durable together with a client state of at most 250 bytes, which may be empty.
    ///
    /// Whatever comes of it, the batch is over, and after an error nothing of it is durable (after
    /// ``CSIndexError/Code/remoteConnectionError`` it is not known whether it is: ask for the client state). Only for
    /// ``CSIndexError/Code/invalidClientStateError``, a client state that is too long, it stays open. Without an open batch
    /// the call fails with ``CSIndexError/Code/unknownError``, on the default index with
    /// ``CSIndexError/Code/indexingUnsupported``.
    @preconcurrency
    open func endBatch(
        withClientState clientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        endBatch(clientState, expecting: .any, completionHandler)
    }

    /// Ends the batch, and fails, as ``endBatch(withClientState:completionHandler:)`` does.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func endBatch(withClientState clientState: Data) async throws {
        try await endBatch(clientState, expecting: .any)
    }

    /// Ends the batch as ``endBatch(withClientState:completionHandler:)`` does, if the stored client state is the expected
    /// one; `nil` expects that there is none.
    ///
    /// Otherwise it fails with ``CSIndexError/Code/mismatchedClientState``: somebody else has changed the index. The batch
    /// is over and nothing of it is durable; fetch the client state, and make a new batch of what is missing.
    @preconcurrency
    open func endIndexBatch(
        expectedClientState: Data?, newClientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        endBatch(newClientState, expecting: .exactly(expectedClientState.map(Array.init)), completionHandler)
    }

    /// Ends the batch if the stored client state is the expected one. Fails as the form with a handler does.
    ///
    /// - Throws: ``CSIndexError``, ``CSIndexError/mismatchedClientState`` if it is another.
    nonisolated(nonsending) open func endIndexBatch(expectedClientState: Data?, newClientState: Data) async throws {
        try await endBatch(newClientState, expecting: .exactly(expectedClientState.map(Array.init)))
    }

    /// Reads the client state of the last durable batch: `nil` without an error if there is none. What was called before
    /// is carried out first; a batch that is open does not count.
    ///
    /// On the default index it fails with ``CSIndexError/Code/indexingUnsupported``.
    @preconcurrency
    open func fetchLastClientState(completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void) {
        fetchClientState(holdsUp: true) { outcome in
            HandlerQueue.shared.async {
                switch outcome {
                case .success(let state): completionHandler(state.map { Data($0) }, nil)
                case .failure(let error): completionHandler(nil, error)
                }
            }
        }
    }

    /// Reads the client state of the last durable batch: empty data if there is none, or if it is empty. The form with a
    /// handler tells the two apart.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func fetchLastClientState() async throws -> Data {
        let outcome = await withCheckedContinuation { continuation in
            fetchClientState(holdsUp: false) { continuation.resume(returning: $0) }
        }
        return Data(try outcome.get() ?? [])
    }

    /// Uses the open batch, if there is one, and keeps what becomes of it.
    func withBatch<Result>(_ body: (inout ChangeList?) -> Result) -> Result { lock.withLock { body(&lockedBatch) } }
}
