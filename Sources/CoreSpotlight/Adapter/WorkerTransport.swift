// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import SearchlightExtension
internal import ServiceMessages

/// Sends to the index through the worker that loaded the extension.
struct WorkerTransport: IndexTransport {
    let connection: HostConnection

    func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void) {
        let context = PendingCompletions.add(completion, for: connection)
        let status = send(request, context)
        // The host completes only what it accepted.
        if let error = CSIndexError(status, nil) { PendingCompletions.complete(context, .failure(error)) }
    }

    private func send(_ request: IndexRequest, _ context: UnsafeMutableRawPointer?) -> searchlight_status {
        let done = PendingCompletions.function
        return withOptionalCString(request.index) { name in
            switch request.action {
            case .change(.put(let batch)):
                connection.callIndex { $0.index_records?($1, name, batch, batch.count, done, context) }
            case .change(.deleteItems(let names)):
                withCStrings(names) { texts in
                    connection.callIndex { $0.delete_items?($1, name, texts, names.count, done, context) }
                }
            case .change(.deleteDomains(let names)):
                withCStrings(names) { texts in
                    connection.callIndex { $0.delete_domains?($1, name, texts, names.count, done, context) }
                }
            case .change(.deleteAll): connection.callIndex { $0.delete_all?($1, name, done, context) }
            case .commitBatch(let changes, let state, let expectation):
                connection.callBatches {
                    let (kind, expected) = expectation.parts
                    return $0.commit_changes?(
                        $1, name, changes, changes.count, state, state.count, kind, expected, expected.count,
                        PendingCompletions.batchFunction, context)
                }
            case .clientState:
                connection.callBatches { $0.read_state?($1, name, PendingCompletions.stateFunction, context) }
            // Apple's API has no question for an item.
            case .record: SEARCHLIGHT_UNSUPPORTED
            }
        }
    }
}

extension ClientStateExpectation {
    /// As the C interface has it.
    fileprivate var parts: (kind: Int32, expected: [UInt8]) {
        switch self {
        case .any: (SEARCHLIGHT_EXPECT_ANY, [])
        case .exactly(nil): (SEARCHLIGHT_EXPECT_NONE, [])
        case .exactly(let state?): (SEARCHLIGHT_EXPECT_STATE, state)
        }
    }
}
