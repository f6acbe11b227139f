// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch

/// Records the calls and stores the items; answers from other threads, in call order.
package final class RecordingIndex: CSSearchableIndex, @unchecked Sendable {
    // Sendable: all state is protected by the lock.
    package struct State {
        package var calls: [String] = []
        package var items: [CSSearchableItem] = []
        /// The items that are currently in the index, by identifier.
        package var kept: [String: CSSearchableItem] = [:]
        package var leftOut: [String: String] = [:]
        package var underWay = 0
        package var mostUnderWay = 0
    }

    private let state = NSLock()
    private var unguarded = State()
    private let failing: String?
    private let queue = DispatchQueue(label: "answers")

    /// - Parameter failing: the call that fails, such as `index 200`
    package init(failing: String? = nil) {
        self.failing = failing
        super.init(name: "recording")
    }

    package var recorded: State { state.withLock { unguarded } }

    private func record(
        _ call: String, items: [CSSearchableItem] = [], _ done: (@Sendable ((any Error)?) -> Void)?,
        change: (inout [String: CSSearchableItem]) -> Void = { _ in }
    ) {
        state.withLock {
            for item in items where !item.isUpdate { unguarded.kept[item.uniqueIdentifier] = item }
            change(&unguarded.kept)
            unguarded.calls.append(call)
            unguarded.items += items
            unguarded.underWay += 1
            unguarded.mostUnderWay = max(unguarded.mostUnderWay, unguarded.underWay)
        }
        queue.async { [self] in
            state.withLock { unguarded.underWay -= 1 }
            done?(call == failing ? CSIndexError(.indexUnavailableError) : nil)
        }
    }

    package override func indexSearchableItems(
        _ items: [CSSearchableItem], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) { record("index \(items.count)", items: items, completionHandler) }

    package override func deleteSearchableItems(
        withIdentifiers identifiers: [String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        record("delete \(identifiers.joined(separator: " "))", completionHandler) { kept in
            for identifier in identifiers { kept[identifier] = nil }
        }
    }

    package override func renameSearchableItems(
        _ identifiers: [String: String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let renames = identifiers.sorted { $0.key < $1.key }.map { "\($0.key) -> \($0.value)" }
        record("rename \(renames.joined(separator: ", "))", completionHandler) { kept in
            let old = kept
            for key in identifiers.keys { kept[key] = nil }
            for (key, new) in identifiers { kept[new] = old[key] }
        }
    }

    package override func fetchItemIdentifiers(
        after identifier: String? = nil, maximumCount: Int = 1000,
        completionHandler: @escaping @Sendable ([String], (any Error)?) -> Void
    ) {
        let all = state.withLock { unguarded.kept.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
        let page = all.filter { (identifier ?? "").utf8.lexicographicallyPrecedes($0.utf8) }.prefix(maximumCount)
        queue.async { completionHandler(Array(page), nil) }
    }

    package override func reportLeftOut(_ name: String, reason: String) {
        state.withLock { unguarded.leftOut[name] = reason }
    }

    package override func deleteAllSearchableItems(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        record("delete all", completionHandler) { $0 = [:] }
    }
}
