// SPDX-License-Identifier: Apache-2.0
import Glibc
import ItemRecord
import ServiceMessages
import SymbolBindings
import Synchronization

/// A reindex by bindings. It makes the calls, sends their donations, and acknowledges the request
/// when all donations are durable and all expected callbacks have arrived. It lives until the
/// worker exits, because a library may call back at any time.
final class BoundReindex: Sendable {
    enum Scope: Sendable {
        /// All items; the bindings find them.
        case everything
        /// These items; their identifiers are passed to the bindings.
        case items([String])
        /// These items; the bindings find all items, and the other items are dropped.
        case only(Set<String>)
        /// The items for the files at these paths, after the items of moved files were renamed.
        /// Bindings that donate files are called for each path.
        case files(Set<String>, moves: [ItemRename])

        /// The wanted items; `nil` for all donated items.
        var wanted: Set<String>? {
            switch self {
            case .everything, .items: nil
            case .only(let names), .files(let names, _): names
            }
        }
    }
    private struct State {
        /// The number of calls that have not returned yet, plus the number of acknowledgements and
        /// donations in progress.
        var awaited = 0
        var failure: BindingFailure?
        var isOver = false
        /// The memory of functions that continue after they have returned.
        var frames: [CallFrame] = []
        /// The wanted items that have not been found yet.
        var missing: Set<String> = []
        /// The number of donated items.
        var donated = 0
    }
    private struct Waiting {
        var batch: [UInt8] = []
        var count = 0
    }
    private let request: UInt64
    private let bindings: [PreparedBinding]
    private let attributes: BoundAttributes
    private let session: HostSession
    private let bundle: BoundBundle
    private let scope: Scope
    private let state = Mutex(State())
    /// The next donation. The lock is also held while it is sent, so that the order is preserved.
    private let waiting = Mutex(Waiting())

    /// The size in bytes at which a donation is sent without waiting for more items.
    private static let batchBytes = 1 << 20
    private static let batchItems = 200
    /// The number of files above which one walk of their folders is faster than a call for each
    /// file. Each call also uses a closure.
    static let maximumFileCalls = 64

    init(
        _ request: UInt64, _ bindings: [PreparedBinding], _ attributes: BoundAttributes, session: HostSession,
        bundle: BoundBundle, scope: Scope
    ) {
        self.request = request
        self.bindings = bindings
        self.attributes = attributes
        self.session = session
        self.bundle = bundle
        self.scope = scope
        if let names = scope.wanted { state.withLock { $0.missing = names } }
    }

    /// Makes the calls. The reply may follow later.
    func run() {
        begin()
        let failure: BindingFailure?
        do throws(BindingFailure) { failure = try donate() } catch {
            end(error)
            return
        }
        let missing = state.withLock { $0.missing.sorted() }
        if !missing.isEmpty { send(.deleteItems(missing)) }
        flush()
        session.requests.setCancelHandler(request) { [weak self] in self?.cancel() }
        end(failure)
    }

    /// Cancels the wait for callbacks. A call cannot be stopped; the host terminates a worker that
    /// continues.
    private func cancel() {
        begin()
        end(BindingFailure(.cancelled, "the request was cancelled"))
    }

    /// Deletes the old items before all items are donated. The host keeps the old items searchable
    /// until the end.
    private func forgetFormer() {
        guard case .everything = scope else { return }
        let donations = bindings.flatMap { $0.binding.calls.flatMap(\.callbacks) }.filter { $0.role == .donate }
        guard !donations.isEmpty else { return }
        let domains = donations.compactMap { callback -> String? in
            guard case .text(let domain)? = callback.assignments.first(where: { $0.name == "domain" })?.value else {
                return nil
            }
            return domain
        }
        send(domains.count == donations.count ? .deleteDomains(Array(Set(domains)).sorted()) : .deleteAll)
    }

    /// Runs the bindings for the scope.
    ///
    /// - Returns: The first error for a file that could not be donated; its item stays unchanged.
    private func donate() throws(BindingFailure) -> BindingFailure? {
        var folders: [BoundFolder?] = []
        for binding in bindings {
            folders.append(try binding.folder.map { (name) throws(BindingFailure) in try BoundFolder(name) })
        }
        for case let folder? in folders { try folder.check() }
        forgetFormer()
        var failure: BindingFailure?
        if case .files(_, let moves) = scope { rename(moves, folders.compactMap(\.self)) }
        if case .files(let paths, _) = scope, paths.count <= Self.maximumFileCalls {
            for path in paths.sorted() {
                do throws(BindingFailure) { try donate(path, folders) } catch {
                    failure = failure ?? error
                    state.withLock { _ = $0.missing.remove(path) }
                }
            }
        } else {
            for (binding, folder) in zip(bindings, folders) { try perform(binding, on: folder?.path) }
        }
        // If a disk was unmounted during the walk, it looked like an empty folder.
        for case let folder? in folders { try folder.check() }
        return failure
    }

    /// Renames the items of moved files. If a new file was created at the old path, the item keeps
    /// its identifier: programs that keep a backup rename the old file and write a new one. To the
    /// user, the new file is the same document.
    private func rename(_ moves: [ItemRename], _ folders: [BoundFolder]) {
        let targets = Set(moves.map(\.newIdentifier))
        var (moved, taken): (Set<String>, Set<String>) = ([], [])
        let renames = moves.filter { move in
            guard move.isPossible, folders.contains(where: { (try? $0.reaches(move.newIdentifier)) == true }),
                targets.contains(move.identifier)
                    || folders.allSatisfy({ (try? $0.reaches(move.identifier)) == false })
            else { return false }
            return !taken.contains(move.newIdentifier) && moved.insert(move.identifier).inserted
                && taken.insert(move.newIdentifier).inserted
        }
        if !renames.isEmpty { send(.renameItems(renames)) }
    }

    private func donate(_ path: String, _ folders: [BoundFolder?]) throws(BindingFailure) {
        for (binding, folder) in zip(bindings, folders) where try folder?.reaches(path) == true {
            try perform(binding, on: path)
        }
    }

    private func perform(_ binding: PreparedBinding, on path: String?) throws(BindingFailure) {
        let calls = try BoundExtension.calls(of: binding)
        let sources = RequestSources(bundle: bundle)
        sources.filePath = path
        if case .items(let identifiers) = scope { sources.identifiers = identifiers }
        let part = Part(reindex: self)
        let acknowledges = binding.binding.calls.contains(where: \.acknowledges)
        if acknowledges {
            begin()
            // The memory of a function's arguments stays valid until the function has acknowledged.
            state.withLock { $0.frames.append(sources.frame) }
        }
        try BindingRun(calls, sources: sources, receiver: part).perform()
    }

    // MARK: Pending work

    fileprivate func begin() { state.withLock { $0.awaited += 1 } }

    /// Ends one pending step. The last step, or the first failure, completes the request.
    fileprivate func end(_ failure: BindingFailure?) {
        let (outcome, frames) = state.withLock { state -> (RequestOutcome?, [CallFrame]) in
            state.awaited -= 1
            if state.failure == nil { state.failure = failure }
            guard !state.isOver else { return (nil, []) }
            if let failure = state.failure {
                // Functions may still use their arguments.
                state.isOver = true
                return (.failed(failure.status, failure.message), [])
            }
            guard state.awaited == 0 else { return (nil, []) }
            state.isOver = true
            defer { state.frames = [] }
            return (.acknowledged, state.frames)
        }
        withExtendedLifetime(frames) {
            if let outcome { session.finish(request, outcome) }
        }
    }

    /// `true` if the host no longer waits for the reply.
    fileprivate var isCancelled: Bool { session.requests.isCancelled(request) }
    fileprivate var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: Donations

    fileprivate func wants(_ identifier: String) -> Bool {
        if let wanted = scope.wanted { return wanted.contains(identifier) }
        guard case .everything = scope, Self.sampleItems > 0 else { return true }
        return state.withLock { $0.donated < Self.sampleItems }
    }

    /// The number of items that are sufficient for the validator, which sets the variable; 0 for
    /// all.
    private static let sampleItems = getenv("SEARCHLIGHT_SAMPLE_ITEMS").flatMap { Int(String(cString: $0)) } ?? 0

    fileprivate func donate(_ item: ItemRecord, _ receiver: any CallbackReceiver) {
        guard wants(item.uniqueIdentifier) else { return }
        state.withLock { state in
            state.missing.remove(item.uniqueIdentifier)
            state.donated += 1
        }
        guard let bytes = encoded(item, receiver) else { return }
        waiting.withLock { waiting in
            if waiting.batch.count + bytes.count > Self.batchBytes { sendBatch(&waiting) }
            RecordBatch.append(bytes, to: &waiting.batch)
            waiting.count += 1
            if waiting.count >= Self.batchItems { sendBatch(&waiting) }
        }
    }

    /// Encodes an item with the attributes that the bindings set. If these make the item too large,
    /// encodes it as it was donated: an item without them is better than no item.
    ///
    /// - Returns: `nil` if the item itself cannot be encoded; it is then reported as omitted.
    private func encoded(_ item: ItemRecord, _ receiver: any CallbackReceiver) -> [UInt8]? {
        do throws(ItemRecordError) {
            return try attributes.complete(item, for: receiver).encoded()
        } catch {
            if let bytes = try? item.encoded() {
                session.log(.warning, "Attributes of \(item.uniqueIdentifier) are left out. \(error)")
                return bytes
            }
            session.log(.warning, "\(item.uniqueIdentifier) is left out. \(error)")
            session.leaveOut(LeftOut(name: item.uniqueIdentifier, reason: "its item cannot be stored"))
            return nil
        }
    }

    fileprivate func flush() { waiting.withLock { sendBatch(&$0) } }

    private func sendBatch(_ waiting: inout Waiting) {
        guard waiting.count > 0 else { return }
        send(.put(waiting.batch))
        waiting = Waiting()
    }

    private func send(_ change: EncodedChange) {
        begin()
        session.send(IndexRequest(change, index: nil)) { outcome in
            switch outcome {
            case .done: self.end(nil)
            case .failed(let status, let message): self.end(BindingFailure(status, message))
            }
        }
    }

    fileprivate func warn(_ message: String) { session.log(.warning, message) }
    fileprivate func leaveOut(_ what: LeftOut) { session.leaveOut(what) }
    fileprivate func misuse(_ rule: HostRequest.Misuse, _ message: String) { session.misuse(rule, message) }
    fileprivate func progress(_ completed: UInt64, _ total: UInt64) {
        session.requests.report(request, completed: completed, total: total)
    }
}

/// The receiver for one binding's callbacks during a reindex.
private final class Part: CallbackReceiver {
    private let reindex: BoundReindex
    private let hasAcknowledged = Atomic(false)

    init(reindex: BoundReindex) { self.reindex = reindex }

    func acknowledge(_ failure: BindingFailure?) {
        guard !hasAcknowledged.exchange(true, ordering: .acquiringAndReleasing) else {
            return reindex.misuse(.answeredTwice, "the acknowledgement of a reindex was called again")
        }
        guard !reindex.isOver else {
            return reindex.misuse(.answeredTwice, "the acknowledgement of a reindex was called after its end")
        }
        reindex.flush()
        reindex.end(failure)
    }

    func report(completed: UInt64, total: UInt64) {
        guard !isLate("progress") else { return }
        reindex.progress(completed, total)
    }

    func donate(_ item: ItemRecord) {
        guard !isLate("donations") else { return }
        reindex.donate(item, self)
    }

    var isOver: Bool { reindex.isOver || reindex.isCancelled }

    func wants(_ identifier: String) -> Bool { reindex.wants(identifier) }
    func warn(_ message: String) { reindex.warn(message) }
    func leaveOut(_ what: LeftOut) { reindex.leaveOut(what) }
    func misuse(_ rule: HostRequest.Misuse, _ message: String) { reindex.misuse(rule, message) }

    private func isLate(_ what: String) -> Bool {
        guard reindex.isOver else { return false }
        reindex.misuse(.usedAfterRelease, "a callback for \(what) was called after its request was over")
        return true
    }
}
