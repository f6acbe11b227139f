// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
import Foundation
internal import ServiceMessages
import UniformTypeIdentifiers

/// An app's index. Users can find the items that the app donates to it.
///
/// Requests are processed in the order of the calls, even if the app does not wait for them. A
/// request is complete when it is durable; then its handler is called or its `await` returns. The
/// items can be found within a second.
///
/// A large call is divided into parts of 256 items or 1 MiB. Each part becomes durable completely
/// or not at all. After an error some parts may be durable; repeating the call is harmless. A batch
/// becomes durable completely or not at all. Every error is a ``CSIndexError``.
///
/// **Handlers.** Each handler is called once, on the library's concurrent queue
/// `searchlight.index.handlers`. It is never called on the main thread, on the caller's thread, or
/// on a thread that transfers messages. So handlers may block, and several may run at once. A
/// handler is called even if the index object was released, because the request does not need it.
/// When the process exits, pending handlers are not called, and incomplete requests may or may not
/// be durable.
///
/// **Cancellation.** A cancelled task still waits for its request, which is processed normally, as
/// on Apple's systems.
///
/// Calls without `await` block the caller while more than 16 MiB are incomplete. After a fork, the
/// child process must not use the library until it calls `exec`.
open class CSSearchableIndex: NSObject, @unchecked Sendable {
    // Sendable: name and sender never change; the delegate and the batch are read and written only
    // under the lock.

    /// The index's protection class; `completeUntilFirstUserAuthentication` by default.
    public let protectionClass: FileProtectionType

    /// The name; `nil` for the default index.
    let name: String?
    /// The sender of requests; `nil` for the process's connection.
    let sender: RequestSender?
    private let delegates: IndexDelegates?
    private let lock = NSLock()
    private weak var lockedDelegate: (any CSSearchableIndexDelegate)?
    private var lockedBatch: ChangeList?

    private static let shared = CSSearchableIndex(name: nil, sender: nil, delegates: ProcessService.delegates)

    /// Returns the app's default index, which does not support batches.
    open class func `default`() -> CSSearchableIndex { shared }

    /// Creates an index with a name. It supports batches and a client state.
    public init(name: String) {
        self.name = name
        protectionClass = .completeUntilFirstUserAuthentication
        sender = nil
        delegates = ProcessService.delegates
    }

    /// Creates an index with a name and a protection class.
    ///
    /// An index with the class `complete` or `completeUnlessOpen` is encrypted. Its items can be
    /// found only while the store is unlocked. The store must be unlocked when the first item is
    /// donated. After that, `completeUnlessOpen` accepts items at any time, and `complete` fails
    /// with ``CSIndexError/Code/indexUnavailableError`` while the store is locked. Reading client
    /// states and identifiers fails in the same way.
    ///
    /// - Note: Differs on Linux: the user unlocks with the keyring or a passphrase (`searchlight
    ///   unlock`). An index with any other class is readable by its owner alone, and encrypted if
    ///   the disk is.
    public init(name: String, protectionClass: FileProtectionType?) {
        self.name = name
        self.protectionClass = protectionClass ?? .completeUntilFirstUserAuthentication
        sender = nil
        delegates = ProcessService.delegates
    }

    /// - Parameter delegates: The registry for the delegate; `nil` for none.
    init(
        name: String?, sender: RequestSender?, delegates: IndexDelegates? = nil,
        protectionClass: FileProtectionType = .completeUntilFirstUserAuthentication
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.sender = sender
        self.delegates = delegates
    }

    deinit { delegates?.remove(ObjectIdentifier(self)) }

    /// Returns a Boolean value that indicates whether this process can currently reach an index. In
    /// an app, the call may first connect to the service, which takes up to five seconds.
    open class func isIndexingAvailable() -> Bool { ProcessSenders.isAvailable }

    /// The delegate that provides items while the app runs. The reference is weak. In an extension,
    /// the request handler provides the items instead.
    ///
    /// While any of the app's indexes has a delegate, the service calls the app instead of its
    /// extension. For a reindex it calls all delegates, each with its index, and all must
    /// acknowledge. The requests for items of an encrypted index go to the delegate of the index
    /// with this name alone, and only while it is unlocked. For a promise the service calls one
    /// delegate after another until one fulfils it.
    ///
    /// Setting the delegate connects to the service in the background, and reconnects after the
    /// service restarts.
    open weak var indexDelegate: (any CSSearchableIndexDelegate)? {
        get { lock.withLock { lockedDelegate } }
        set {
            lock.withLock { lockedDelegate = newValue }
            delegates?.set(newValue != nil, for: self)
        }
    }

    // MARK: Items

    /// Adds items to the index, or replaces or updates the items with the same identifiers.
    ///
    /// Items that cannot be indexed fail the call with ``CSIndexError/Code/invalidItemError``; the
    /// other items are indexed.
    @preconcurrency
    open func indexSearchableItems(
        _ items: [CSSearchableItem], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit(IndexRequest.index(items), completionHandler)
    }

    /// Adds items to the index, like ``indexSearchableItems(_:completionHandler:)``.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func indexSearchableItems(_ items: [CSSearchableItem]) async throws {
        try await submit(IndexRequest.index(items))
    }

    /// Deletes the items with these identifiers. Unknown identifiers are ignored.
    @preconcurrency
    open func deleteSearchableItems(
        withIdentifiers identifiers: [String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(identifiers, EncodedChange.deleteItems), nil), completionHandler)
    }

    /// Deletes the items with these identifiers. Unknown identifiers are ignored.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteSearchableItems(withIdentifiers identifiers: [String]) async throws {
        try await submit((IndexRequest.delete(identifiers, EncodedChange.deleteItems), nil))
    }

    /// Deletes the items in these domains and in their subdomains. For example, `a` includes `a.b`
    /// but not `ab`.
    @preconcurrency
    open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String],
        completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit((IndexRequest.delete(domainIdentifiers, EncodedChange.deleteDomains), nil), completionHandler)
    }

    /// Deletes the items in these domains and in their subdomains.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteSearchableItems(
        withDomainIdentifiers domainIdentifiers: [String]
    ) async throws {
        try await submit((IndexRequest.delete(domainIdentifiers, EncodedChange.deleteDomains), nil))
    }

    /// Deletes all items in this index, and its client state.
    @preconcurrency
    open func deleteAllSearchableItems(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        submit(([.deleteAll], nil), completionHandler)
    }

    /// Deletes all items in this index, and its client state.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func deleteAllSearchableItems() async throws {
        try await submit(([.deleteAll], nil))
    }

    /// Gives items new identifiers. A renamed item remains the same item: it keeps its dates, its
    /// attributes and its item number, to which the engagement counts that improve ranking belong.
    ///
    /// Rename an item if its identifier is a location that has changed, such as the path of a moved
    /// file. Then index it again if its attributes contain the location too. If you delete the item
    /// and index it under a new identifier instead, it becomes a new item without engagement
    /// counts.
    ///
    /// ```swift
    /// index.renameSearchableItems([old.path: new.path])
    /// index.indexSearchableItems([item(of: new)]) { error in acknowledge(error) }
    /// ```
    ///
    /// - All renames in a call take effect at once, so two items can swap their identifiers.
    /// - An item that already has the new identifier is replaced together with its number, unless
    ///   the same call renames it.
    /// - An item that is not in the index is skipped. Items from earlier calls are in the index.
    /// - Items whose `relatedUniqueIdentifier` names a renamed item refer to its new identifier.
    ///
    /// A call takes effect completely or not at all. It can contain up to 524,287 renames and 32
    /// MiB. Apple has no such method.
    ///
    /// - Parameters:
    ///   - identifiers: The new identifiers by current identifier. Each has 1 to 4,096 UTF-8 bytes
    ///     without NUL, and occurs once.
    ///   - completionHandler: Called once when the renames are durable, or with a ``CSIndexError``.
    ///     The code is ``CSIndexError/Code/invalidItemError`` for an invalid or duplicate new
    ///     identifier, ``CSIndexError/Code/quotaExceeded`` for too many renames, and
    ///     ``CSIndexError/Code/indexingUnsupported`` if the host is too old. After
    ///     ``CSIndexError/Code/remoteConnectionError``, the items may or may not have their new
    ///     identifiers. Repeating the call is then harmless, unless its renames swap or follow each
    ///     other; in that case, index these items again.
    @preconcurrency
    open func renameSearchableItems(
        _ identifiers: [String: String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        submit(IndexRequest.rename(identifiers), completionHandler)
    }

    /// Gives items new identifiers, like ``renameSearchableItems(_:completionHandler:)``.
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

    /// Lists the identifiers of the app's own items in this index, sorted by byte value, after all
    /// earlier calls are durable.
    ///
    /// For example, an extension can list the indexed items in a folder, and delete the items whose
    /// files no longer exist. Apple has no such method.
    ///
    /// ```swift
    /// index.fetchItemIdentifiers(after: folder.path + "/", maximumCount: 1000) { identifiers, error in
    ///     …
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - identifier: The last identifier in the previous list; `nil` starts from the beginning.
    ///   - maximumCount: At most 1,000. A list with fewer identifiers is the last one.
    ///   - completionHandler: Called once with the identifiers, or with a ``CSIndexError``. The
    ///     code is ``CSIndexError/Code/indexingUnsupported`` if the host is too old.
    open func fetchItemIdentifiers(
        after identifier: String? = nil, maximumCount: Int = 1000,
        completionHandler: @escaping @Sendable (_ identifiers: [String], _ error: (any Error)?) -> Void
    ) {
        list(after: identifier ?? "", limit: min(max(maximumCount, 1), 1000)) { result in
            HandlerQueue.shared.async {
                switch result {
                case .success(let identifiers): completionHandler(identifiers, nil)
                case .failure(let error): completionHandler([], error)
                }
            }
        }
    }

    /// Reports content that an extension does not index. `searchlight status` and `searchlight
    /// reindex` show the number of these reports for each reason.
    ///
    /// Reports during a full reindex replace all earlier reports. Reports during a request for some
    /// items or files replace the earlier reports about these items or files. Call the method
    /// before the acknowledgement.
    ///
    /// ```swift
    /// searchableIndex.reportLeftOut(file.path, reason: "no permission to read it")
    /// ```
    ///
    /// Does nothing in an app, which can inform its user itself. May be called from any thread.
    /// Apple has no such method.
    ///
    /// - Parameters:
    ///   - name: The identifier of the missing item, or another name such as a path. At most 4,096
    ///     UTF-8 bytes are stored.
    ///   - reason: A short phrase that is the same for all content of one kind. At most 200 UTF-8
    ///     bytes are stored.
    open func reportLeftOut(_ name: String, reason: String) {
        (try? sender ?? ProcessSenders.only())?.reportLeftOut(name, reason: reason)
    }

    // MARK: Batches

    /// Begins a batch. Later changes through this object wait in memory, up to 32 MiB, and become
    /// durable together with a client state when the batch ends. Until then, none of them is
    /// stored.
    ///
    /// Calls in a batch are complete as soon as they are part of it, so you can await them before
    /// the batch ends. A call that would make the batch too large fails with
    /// ``CSIndexError/Code/quotaExceeded``; the batch is unchanged.
    ///
    /// The next batch can begin as soon as you have called the method that ends this batch. If a
    /// batch is already open, this method has no effect. An open batch is discarded when the index
    /// is released.
    /// The default index does not support batches: its calls take effect immediately.
    open func beginBatch() {
        guard name != nil else { return }
        lock.withLock { lockedBatch = lockedBatch ?? ChangeList() }
    }

    /// Ends the batch, and makes its calls durable together with a client state of at most 250
    /// bytes, which can be empty.
    ///
    /// Afterwards the batch is closed, and after an error none of it is durable. Exceptions:
    ///
    /// - After ``CSIndexError/Code/remoteConnectionError``, the batch may be durable. Fetch the
    ///   client state to find out.
    /// - After ``CSIndexError/Code/invalidClientStateError``, for a client state that is too long,
    ///   the batch stays open.
    ///
    /// If no batch is open, the call fails with ``CSIndexError/Code/unknownError``. On the default
    /// index it fails with ``CSIndexError/Code/indexingUnsupported``.
    @preconcurrency
    open func endBatch(
        withClientState clientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        endBatch(clientState, expecting: .any, completionHandler)
    }

    /// Ends the batch, with the same errors as ``endBatch(withClientState:completionHandler:)``.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func endBatch(withClientState clientState: Data) async throws {
        try await endBatch(clientState, expecting: .any)
    }

    /// Ends the batch like ``endBatch(withClientState:completionHandler:)``, if the stored client
    /// state equals the expected one; `nil` means that no client state is expected.
    ///
    /// Otherwise the call fails with ``CSIndexError/Code/mismatchedClientState``, because another
    /// process has changed the index. The batch is closed, and none of it is durable. Fetch the
    /// client state, and create a new batch with the missing changes.
    @preconcurrency
    open func endIndexBatch(
        expectedClientState: Data?, newClientState: Data, completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        endBatch(newClientState, expecting: .exactly(expectedClientState.map(Array.init)), completionHandler)
    }

    /// Ends the batch if the stored client state equals the expected one. The errors are the
    /// same as in the variant with a handler.
    ///
    /// - Throws: ``CSIndexError``; ``CSIndexError/mismatchedClientState`` if the client states
    ///   differ.
    nonisolated(nonsending) open func endIndexBatch(expectedClientState: Data?, newClientState: Data) async throws {
        try await endBatch(newClientState, expecting: .exactly(expectedClientState.map(Array.init)))
    }

    /// Reads the client state of the last durable batch: `nil` without an error if there is none.
    /// Earlier calls are completed first; an open batch is ignored.
    ///
    /// On the default index the call fails with ``CSIndexError/Code/indexingUnsupported``.
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

    /// Reads the client state of the last durable batch. The data is empty both if there is no
    /// client state and if the state is empty. The variant with a handler distinguishes the two
    /// cases.
    ///
    /// - Throws: ``CSIndexError``.
    nonisolated(nonsending) open func fetchLastClientState() async throws -> Data {
        let outcome = await withCheckedContinuation { continuation in
            fetchClientState(holdsUp: false) { continuation.resume(returning: $0) }
        }
        return Data(try outcome.get() ?? [])
    }

    /// Passes the open batch, if there is one, to a closure, and stores the changed value.
    func withBatch<Result>(_ body: (inout ChangeList?) -> Result) -> Result { lock.withLock { body(&lockedBatch) } }
}
