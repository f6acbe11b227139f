// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import ServiceMessages

/// What to do, after a new connection, with requests that were sent over the old one and not acknowledged.
///
/// Requests of a connection are carried out and acknowledged in their order, so what is unacknowledged is the end of what
/// was sent, and a beginning of that end may have been carried out. Sending all of it again in order comes to the same
/// contents. Only a batch that expects a client state would then be refused although it was carried out; the stored client
/// state tells.
///
/// Renames are no such requests: what was indexed again under an old identifier would be renamed as well. So nothing else is
/// under way with one (``WaitingRequests``), and what cannot be told of it is not sent again (``IndexRequest/isRepeatable``).
enum ResendPlan {
    /// The indexes whose client states have to be known before anything is sent again.
    static func questions(_ sent: [IndexRequest]) -> Set<String?> { Set(sent.filter(\.isAmbiguous).map(\.index)) }

    /// The positions of the requests that were carried out, so that they are not sent again.
    ///
    /// - Parameter states: The stored client states of the indexes that were asked for; what could not be learnt is missing.
    static func carriedOut(_ sent: [IndexRequest], states: [String?: [UInt8]?]) -> Set<Int> {
        var result: Set<Int> = []
        for (index, state) in states {
            let positions = sent.indices.filter { sent[$0].index == index }
            result.formUnion(carriedOut(positions.map { sent[$0] }, state: state).map { positions[$0] })
        }
        return result
    }

    /// The positions of what was carried out up to the batch that left the stored state behind, if that can be told: the
    /// first in a chain of batches, each of which expects what the one before leaves. To take the first is safe, for the
    /// rest is sent again.
    private static func carriedOut(_ actions: [IndexRequest], state: [UInt8]?) -> [Int] {
        // The first batch may have been refused, so any may have been the one with which the chain begins.
        for action in actions {
            switch action.effect {
            case .exchange(let beginning, _):
                // Nothing of it was carried out.
                if state == beginning { return [] }
                if let done = chain(actions, from: beginning, to: state) { return done }
            // Before the chain they bring about what it begins with, also when they are sent again.
            case .set: return []
            case .none: break
            }
        }
        return []
    }

    /// The positions of what was carried out if one state was there before and the other is now; `nil` if that cannot be.
    private static func chain(
        _ actions: [IndexRequest], from beginning: [UInt8]?, to state: [UInt8]?
    ) -> [Int]? {
        var reached = beginning
        var done: [Int] = []
        for (position, action) in actions.enumerated() {
            switch action.effect {
            case .exchange(let expected, let new):
                // Does not belong to the chain: was refused, and will be again.
                guard reached == expected else { continue }
                done.append(position)
                if state == new { return done }
                reached = new
            // They leave a state from which nothing can be told.
            case .set: return nil
            case .none: done.append(position)
            }
        }
        return nil
    }
}

extension IndexRequest {
    /// Whether the request renames items.
    var renamesItems: Bool {
        guard case .commit(let batch) = self else { return false }
        return batch.changes.changes.contains { if case .renameItems = $0 { true } else { false } }
    }

    /// Whether sending it again, without any other, comes to the same as sending it once, or the client state tells whether it
    /// was carried out. Renames that swap or follow each other would go on where they ended.
    var isRepeatable: Bool {
        guard renamesItems, !isAmbiguous, case .commit(let batch) = self else { return true }
        var changes = batch.changes.changes
        guard batch.clientState == nil, case .renameItems(let renames)? = changes.next(), changes.next() == nil else {
            return false
        }
        return Set(renames.map(\.identifier)).isDisjoint(with: renames.map(\.newIdentifier))
    }

    /// Whether sending it again could fail because it was carried out before.
    fileprivate var isAmbiguous: Bool {
        guard case .exchange(let expected, let new) = effect else { return false }
        return new != expected
    }

    /// What a request does to the client state.
    fileprivate enum Effect {
        case none
        /// It leaves another state, whatever was there.
        case set
        /// It leaves another state if the expected one was there.
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
