// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import ServiceMessages

/// Determines, after a reconnection, how to handle requests that were sent over the old connection
/// but not acknowledged.
///
/// The service processes and acknowledges a connection's requests in order. So the unacknowledged
/// requests are the last ones that were sent, and some of the first among them may have been
/// processed. Sending all of them again in order gives the same contents. The exception is a batch
/// that expects a client state: it could be rejected after it was applied. The stored client state
/// shows whether it was applied.
///
/// Renames cannot be sent again in this way, because an item that was indexed again under an old
/// identifier would be renamed too. So no other change is in progress at the same time as a rename
/// (``WaitingRequests``). A rename with an unknown outcome is not sent again
/// (``IndexRequest/isRepeatable``).
enum ResendPlan {
    /// Returns the indexes whose client states must be read before requests are sent again.
    static func questions(_ sent: [IndexRequest]) -> Set<String?> { Set(sent.filter(\.isAmbiguous).map(\.index)) }

    /// Returns the positions of the requests that were processed and must not be sent again.
    ///
    /// - Parameter states: The client states of the indexes from ``questions(_:)`` that could be
    ///   read.
    static func carriedOut(_ sent: [IndexRequest], states: [String?: [UInt8]?]) -> Set<Int> {
        var result: Set<Int> = []
        for (index, state) in states {
            let positions = sent.indices.filter { sent[$0].index == index }
            result.formUnion(carriedOut(positions.map { sent[$0] }, state: state).map { positions[$0] })
        }
        return result
    }

    /// Returns the positions of the requests up to the batch that stored the current client state,
    /// to the extent that it can be determined. That batch is the first match in a chain of
    /// batches, each of which expects the state of the previous batch. Using the first match is
    /// safe, because the remaining requests are sent again.
    private static func carriedOut(_ actions: [IndexRequest], state: [UInt8]?) -> [Int] {
        // The chain may start with any batch, because the batches before it may have been rejected.
        for action in actions {
            switch action.effect {
            case .exchange(let beginning, _):
                // No request was processed.
                if state == beginning { return [] }
                if let done = chain(actions, from: beginning, to: state) { return done }
            // Requests before the chain produce its initial state, even when they are sent again.
            case .set: return []
            case .none: break
            }
        }
        return []
    }

    /// Returns the positions of the processed requests between two client states; `nil` if no chain
    /// connects them.
    private static func chain(
        _ actions: [IndexRequest], from beginning: [UInt8]?, to state: [UInt8]?
    ) -> [Int]? {
        var reached = beginning
        var done: [Int] = []
        for (position, action) in actions.enumerated() {
            switch action.effect {
            case .exchange(let expected, let new):
                // The batch is not part of the chain: it was rejected, and will be rejected again.
                guard reached == expected else { continue }
                done.append(position)
                if state == new { return done }
                reached = new
            // Nothing can be concluded from the resulting state.
            case .set: return nil
            case .none: done.append(position)
            }
        }
        return nil
    }
}

extension IndexRequest {
    /// `true` if the request renames items.
    var renamesItems: Bool {
        guard case .commit(let batch) = self else { return false }
        return batch.changes.changes.contains { if case .renameItems = $0 { true } else { false } }
    }

    /// `true` if the request may be sent a second time: either this has no further effect, or the
    /// client state shows whether the request was processed. A repeated request with renames that
    /// swap or follow each other would rename again.
    var isRepeatable: Bool {
        guard renamesItems, !isAmbiguous, case .commit(let batch) = self else { return true }
        var changes = batch.changes.changes
        guard batch.clientState == nil, case .renameItems(let renames)? = changes.next(), changes.next() == nil else {
            return false
        }
        return Set(renames.map(\.identifier)).isDisjoint(with: renames.map(\.newIdentifier))
    }

    /// `true` if sending the request again could fail because it has already been processed.
    fileprivate var isAmbiguous: Bool {
        guard case .exchange(let expected, let new) = effect else { return false }
        return new != expected
    }

    /// The effect of a request on the client state.
    fileprivate enum Effect {
        case none
        /// The request sets a new state unconditionally.
        case set
        /// The request sets a new state if the expected state was stored.
        case exchange([UInt8]?, [UInt8])
    }

    fileprivate var effect: Effect {
        guard case .commit(let batch) = self else { return .none }
        if let new = batch.clientState {
            if case .exactly(let expected) = batch.expectation { return .exchange(expected, new) }
            return .set
        }
        let deletesAll = batch.changes.changes.contains { if case .deleteAll = $0 { true } else { false } }
        return deletesAll ? .set : .none
    }
}
