// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import ItemRecord
import ServiceMessages
import Synchronization

/// One request's donations and deletions, sent in batches. Used by one thread.
struct RowDonations {
    private let session: HostSession
    private let outcome = Outcome()
    private var batch: [UInt8] = []
    private var count = 0
    /// The number of donated items.
    private(set) var donated = 0

    private static let (batchBytes, batchItems, batchNames) = (1 << 20, 200, 500)

    /// The first failure, and the donations in progress.
    private final class Outcome: Sendable {
        let group = DispatchGroup()
        let failure = Mutex<BindingFailure?>(nil)
    }

    init(_ session: HostSession) { self.session = session }

    /// Donates an item. An item that no index can store is omitted and reported.
    mutating func put(_ record: ItemRecord) {
        let bytes: [UInt8]
        do throws(ItemRecordError) { bytes = try record.encoded() } catch {
            session.leaveOut(LeftOut(name: record.uniqueIdentifier, reason: "a row is too large for an item"))
            return
        }
        if batch.count + bytes.count > Self.batchBytes { flush() }
        RecordBatch.append(bytes, to: &batch)
        (count, donated) = (count + 1, donated + 1)
        if count >= Self.batchItems { flush() }
    }

    mutating func delete(_ identifiers: [String]) {
        flush()
        var rest = identifiers[...]
        while !rest.isEmpty {
            send(IndexRequest(.deleteItems(Array(rest.prefix(Self.batchNames))), index: nil))
            rest = rest.dropFirst(Self.batchNames)
        }
    }

    mutating func delete(domains: [String]) {
        flush()
        send(IndexRequest(.deleteDomains(domains), index: nil))
    }

    /// Stores the client state of an index that has no items, after all donations are durable.
    mutating func keep(_ state: [UInt8], in index: String) throws(BindingFailure) {
        try finish()
        send(.commit(IndexBatch(scope: IndexScope(bundle: "", index: index), clientState: state)))
        try finish()
    }

    private mutating func flush() {
        guard count > 0 else { return }
        send(IndexRequest(.put(batch), index: nil))
        (batch, count) = ([], 0)
    }

    private func send(_ request: IndexRequest) {
        outcome.group.enter()
        session.send(request) { [outcome] result in
            if case .failed(let status, let message) = result {
                outcome.failure.withLock { $0 = $0 ?? BindingFailure(status, message) }
            }
            outcome.group.leave()
        }
    }

    /// Waits until everything is durable.
    ///
    /// - Throws: The ``BindingFailure`` of the first failed donation.
    mutating func finish() throws(BindingFailure) {
        flush()
        outcome.group.wait()
        if let failure = outcome.failure.withLock({ $0 }) { throw failure }
    }
}

extension HostSession {
    /// Requests the client state of one of the extension's indexes and waits for it; `nil` if there
    /// is none. Must not be called on the connection's thread.
    func clientState(of index: String) throws(BindingFailure) -> [UInt8]? {
        let values = try answer(to: .clientState(index: index))
        var arguments = BusArguments(values, of: "ClientState")
        do throws(BusError) { return try ClientStateReply(&arguments).state } catch {
            throw BindingFailure(.failed, error.description)
        }
    }

    /// Requests the identifiers of the extension's items that follow a given identifier, sorted by
    /// byte value.
    func identifiers(
        after: String, limit: Int = IndexRequest.maximumIdentifiers
    ) throws(BindingFailure) -> [String] {
        let values = try answer(to: .identifiers(index: nil, after: after, limit: UInt64(limit)))
        var arguments = BusArguments(values, of: "Identifiers")
        do throws(BusError) { return try arguments.strings() } catch {
            throw BindingFailure(.failed, error.description)
        }
    }

    private func answer(to request: IndexRequest) throws(BindingFailure) -> [BusValue] {
        let answer = Mutex<Result<[BusValue], BindingFailure>>(.failure(BindingFailure(.unavailable, "no answer")))
        let arrived = DispatchSemaphore(value: 0)
        send(request) { outcome in
            answer.withLock { answer in
                answer =
                    switch outcome {
                    case .done(let values): .success(values)
                    case .failed(let status, let message): .failure(BindingFailure(status, message))
                    }
            }
            arrived.signal()
        }
        arrived.wait()
        return try answer.withLock { $0 }.get()
    }
}
