// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import SearchlightExtension
internal import ServiceMessages

/// An index transport through the worker that loaded the extension.
struct WorkerTransport: IndexTransport {
    let connection: HostConnection

    func reportLeftOut(_ name: String, reason: String) { connection.reportLeftOut(name, reason: reason) }

    func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void) {
        if case .commit(let batch) = request, batch.needsEncryption,
            let error = CSIndexError(classStatus: setClass(of: batch))
        {
            return completion(.failure(error))
        }
        let context = PendingCompletions.add(completion, for: connection)
        let status = send(request, context)
        // The host only completes requests that it has accepted.
        if let error = CSIndexError(status, nil) { PendingCompletions.complete(context, .failure(error)) }
    }

    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        let context = PendingCompletions.add(listing: completion, for: connection)
        let status = withOptionalCString(index) { name in
            withOptionalCString(after.isEmpty ? nil : after) { after in
                connection.callListing {
                    $0.list_items?(
                        $1, name, after, UInt32(clamping: limit), PendingCompletions.listFunction, context)
                }
            }
        }
        if let error = CSIndexError(status, nil) { PendingCompletions.complete(context, .failure(error)) }
    }

    /// Sets the class of a batch's index. If that fails, the batch must not be sent: the host would
    /// store it as plain text.
    private func setClass(of batch: IndexBatch) -> searchlight_status {
        guard let number = batch.protection?.number else { return SEARCHLIGHT_OK }
        return withOptionalCString(batch.scope.index) { connection.setClass(number, of: $0) }
    }

    private func send(_ request: IndexRequest, _ context: UnsafeMutableRawPointer?) -> searchlight_status {
        let done = PendingCompletions.function
        return withOptionalCString(request.index) { name in
            switch request {
            case .commit(let batch):
                guard let state = batch.clientState else { return change(batch, name, done, context) }
                return connection.callBatches {
                    let (kind, expected) = batch.expectation.parts
                    let changes = batch.changes.bytes
                    return $0.commit_changes?(
                        $1, name, changes, changes.count, state, state.count, kind, expected, expected.count,
                        PendingCompletions.batchFunction, context)
                }
            case .clientState:
                return connection.callBatches { $0.read_state?($1, name, PendingCompletions.stateFunction, context) }
            // Apple's API cannot read items. Listing items uses another host function.
            case .record, .identifiers: return SEARCHLIGHT_UNSUPPORTED
            }
        }
    }

    /// Sends the single change in a batch without client state.
    private func change(
        _ batch: IndexBatch, _ name: UnsafePointer<CChar>?, _ done: searchlight_completion?,
        _ context: UnsafeMutableRawPointer?
    ) -> searchlight_status {
        var changes = batch.changes.changes
        guard let change = changes.next(), changes.next() == nil else { return SEARCHLIGHT_UNSUPPORTED }
        switch change {
        case .put(let records):
            return records.withUnsafeBufferPointer { records in
                connection.callIndex {
                    $0.index_records?($1, name, records.baseAddress, records.count, done, context)
                }
            }
        case .deleteItems(let names):
            return withCStrings(names) { texts in
                connection.callIndex { $0.delete_items?($1, name, texts, names.count, done, context) }
            }
        case .deleteDomains(let names):
            return withCStrings(names) { texts in
                connection.callIndex { $0.delete_domains?($1, name, texts, names.count, done, context) }
            }
        case .deleteAll: return connection.callIndex { $0.delete_all?($1, name, done, context) }
        case .renameItems(let renames):
            return withCStrings(renames.map(\.identifier)) { old in
                withCStrings(renames.map(\.newIdentifier)) { new in
                    connection.callRenames { $0.rename_items?($1, name, old, new, renames.count, done, context) }
                }
            }
        }
    }
}

extension CSIndexError {
    /// The error for a class that the host did not accept; `nil` for `SEARCHLIGHT_OK`.
    fileprivate init?(classStatus status: searchlight_status) {
        guard status == SEARCHLIGHT_UNSUPPORTED else {
            self.init(status, nil)
            return
        }
        self.init(
            .indexUnavailableError,
            "This version of Searchlight cannot encrypt donations of extensions, so nothing was stored.")
    }
}

extension FileProtectionType {
    /// Creates the class with a number in the C interface; `nil` for a class without encryption.
    init?(number: Int32) {
        switch number {
        case SEARCHLIGHT_CLASS_COMPLETE: self = .complete
        case SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN: self = .completeUnlessOpen
        default: return nil
        }
    }
}

extension ProtectionClass {
    /// The class in the C interface; `nil` without encryption.
    fileprivate var number: Int32? {
        switch self {
        case .complete: SEARCHLIGHT_CLASS_COMPLETE
        case .completeUnlessOpen: SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN
        default: nil
        }
    }
}

extension ClientStateExpectation {
    /// The expectation in the C interface's form.
    fileprivate var parts: (kind: Int32, expected: [UInt8]) {
        switch self {
        case .any: (SEARCHLIGHT_EXPECT_ANY, [])
        case .exactly(nil): (SEARCHLIGHT_EXPECT_NONE, [])
        case .exactly(let state?): (SEARCHLIGHT_EXPECT_STATE, state)
        }
    }
}
