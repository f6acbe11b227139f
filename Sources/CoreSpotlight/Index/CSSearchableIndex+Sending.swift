// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
internal import ServiceMessages
import UniformTypeIdentifiers

extension CSSearchableIndex {
    typealias Prepared = (changes: [EncodedChange], error: CSIndexError?)
    private typealias Completion = @Sendable (IndexTransport.Outcome) -> Void

    /// Sends prepared changes, or adds them to the open batch. Calls the handler when done.
    func submit(_ prepared: Prepared, _ handler: (@Sendable ((any Error)?) -> Void)?) {
        submit(prepared, holdsUp: true) { Self.deliver($0, handler) }
    }

    /// Sends prepared changes, or adds them to the open batch, and waits until this is done.
    nonisolated(nonsending) func submit(_ prepared: Prepared) async throws {
        let outcome = await withCheckedContinuation { continuation in
            submit(prepared, holdsUp: false) { continuation.resume(returning: $0) }
        }
        _ = try outcome.get()
    }

    /// Ends the batch, and calls the handler when the batch is durable.
    func endBatch(
        _ state: Data, expecting expectation: ClientStateExpectation, _ handler: (@Sendable ((any Error)?) -> Void)?
    ) {
        endBatch(state, expectation, holdsUp: true) { Self.deliver($0, handler) }
    }

    /// Ends the batch, and waits until it is durable.
    nonisolated(nonsending) func endBatch(
        _ state: Data, expecting expectation: ClientStateExpectation
    ) async throws {
        let outcome = await withCheckedContinuation { continuation in
            endBatch(state, expectation, holdsUp: false) { continuation.resume(returning: $0) }
        }
        _ = try outcome.get()
    }

    /// Reads the stored client state.
    func fetchClientState(holdsUp: Bool, completion: @escaping @Sendable (IndexTransport.Outcome) -> Void) {
        attempt(completion) { () throws(CSIndexError) in
            try checkHasBatches()
            try send([.clientState(index: name)], holdsUp: holdsUp, completion: completion)
        }
    }

    /// Lists this index's identifiers.
    func list(
        after: String, limit: Int, completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        do throws(CSIndexError) {
            try checkName()
            let connected = if let sender { sender } else { try ProcessSenders.only() }
            connected.list(index: name, after: after, limit: limit, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    private func submit(_ prepared: Prepared, holdsUp: Bool, completion: @escaping Completion) {
        attempt(completion) { () throws(CSIndexError) in
            try checkName()
            let (changes, itemError) = prepared
            let complete: Completion = { outcome in
                // An item's error takes precedence over the outcome for the other items.
                completion(itemError.map { .failure($0) } ?? outcome)
            }
            let staged: Result<Bool, CSIndexError> = withBatch { batch in
                Result { () throws(CSIndexError) in
                    guard batch != nil else { return false }
                    try batch?.stage(changes)
                    return true
                }
            }
            if try staged.get() { return complete(.success(nil)) }
            try send(
                changes.map { IndexRequest($0, index: name, protection: encryption) }, holdsUp: holdsUp,
                completion: complete)
        }
    }

    private func endBatch(
        _ state: Data, _ expectation: ClientStateExpectation, holdsUp: Bool, completion: @escaping Completion
    ) {
        attempt(completion) { () throws(CSIndexError) in
            try checkHasBatches()
            try Self.check(Array(state), "The client state")
            if case .exactly(let expected?) = expectation { try Self.check(expected, "The expected client state") }
            let batch = withBatch { batch in
                defer { batch = nil }
                return batch
            }
            guard let batch else {
                throw CSIndexError(
                    .unknownError,
                    "There is no batch to end, so the client state was not stored. Call beginBatch() before the calls "
                        + "that belong to it.")
            }
            let commit = IndexBatch(
                scope: IndexScope(bundle: "", index: name), changes: batch, clientState: Array(state),
                expecting: expectation, protection: encryption)
            try send([.commit(commit)], holdsUp: holdsUp, completion: completion)
        }
    }

    /// The protection class, if the index is encrypted; `nil` for other classes.
    private var encryption: ProtectionClass? {
        guard name != nil else { return nil }
        switch protectionClass.rawValue {
        case FileProtectionType.complete.rawValue: return .complete
        case FileProtectionType.completeUnlessOpen.rawValue: return .completeUnlessOpen
        default: return nil
        }
    }

    private func send(
        _ requests: [IndexRequest], holdsUp: Bool, completion: @escaping Completion
    ) throws(CSIndexError) {
        let connected = if let sender { sender } else { try ProcessSenders.only() }
        connected.submit(requests, holdsUp: holdsUp, completion: completion)
    }

    /// Passes an error of the closure to the completion.
    private func attempt(_ completion: Completion, _ body: () throws(CSIndexError) -> Void) {
        do throws(CSIndexError) { try body() } catch { completion(.failure(error)) }
    }

    private static func deliver(_ outcome: IndexTransport.Outcome, _ handler: (@Sendable ((any Error)?) -> Void)?) {
        guard let handler else { return }
        HandlerQueue.shared.async {
            switch outcome {
            case .success: handler(nil)
            case .failure(let error): handler(error)
            }
        }
    }

    // MARK: Checks

    private func checkName() throws(CSIndexError) {
        guard let name, name.isEmpty || name.utf8.contains(0) || name.utf8.count > 255 else { return }
        throw CSIndexError(
            .indexUnavailableError, "The name of the index is not valid. Use 1 to 255 bytes without NUL.")
    }

    private func checkHasBatches() throws(CSIndexError) {
        try checkName()
        guard name == nil else { return }
        throw CSIndexError(
            .indexingUnsupported,
            "The default index has no batches and no client state. Use CSSearchableIndex(name:).")
    }

    private static func check(_ state: [UInt8], _ what: String) throws(CSIndexError) {
        guard state.count > ClientState.maximumBytes else { return }
        throw CSIndexError(
            .invalidClientStateError,
            "\(what) has \(state.count) bytes; the limit is \(ClientState.maximumBytes). Store a digest instead. "
                + "The batch is still open.")
    }
}
