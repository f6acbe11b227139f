// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages

// Requests in the form in which tests write and compare them: a single change or a batch, without
// the index.

extension IndexRequest {
    public typealias Action = IndexRequest

    public static func change(_ change: EncodedChange) -> IndexRequest { IndexRequest(change, index: nil) }

    public static func commitBatch(
        changes: [UInt8], clientState: [UInt8], expecting expectation: ClientStateExpectation
    ) -> IndexRequest {
        guard let list = try? ChangeList(decoding: changes) else { preconditionFailure("not a list of changes") }
        return .commit(
            IndexBatch(
                scope: IndexScope(bundle: ""), changes: list, clientState: clientState, expecting: expectation))
    }

    public init(_ action: Action, index: String?) { self = action.of(index) }

    /// The request without its index.
    public var action: Action { of(nil) }

    /// The batch, if it has a client state.
    public var batch: IndexBatch? {
        if case .commit(let batch) = self, batch.clientState != nil { batch } else { nil }
    }

    /// The single change in a request that has no client state.
    public var change: EncodedChange? {
        guard case .commit(let batch) = self, batch.clientState == nil, batch.changes.all.count == 1 else { return nil }
        return batch.changes.all[0]
    }

    private func of(_ index: String?) -> IndexRequest {
        switch self {
        case .commit(var batch):
            batch.scope.index = index
            return .commit(batch)
        case .clientState: return .clientState(index: index)
        case .record: return self
        case .identifiers(_, let after, let limit): return .identifiers(index: index, after: after, limit: limit)
        }
    }
}

extension ChangeList {
    /// All changes.
    public var all: [EncodedChange] { changes.map { $0.withRecords { Array($0) } } }

    public static func changes(in bytes: [UInt8]) throws(ItemRecordError) -> [EncodedChange] {
        try ChangeList(decoding: bytes).all
    }
}

extension BusError {
    /// The error name in the answer.
    public var name: String? { if case .remote(let name, _) = self { name } else { nil } }
}
