// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch

/// Remembers what is done to it; answers from other threads, in the order of the calls.
package final class RecordingIndex: CSSearchableIndex, @unchecked Sendable {
    // Sendable: all state is behind the lock.
    package struct State {
        package var calls: [String] = []
        package var items: [CSSearchableItem] = []
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

    private func record(_ call: String, items: [CSSearchableItem] = [], _ done: (@Sendable ((any Error)?) -> Void)?) {
        state.withLock {
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
    ) { record("delete \(identifiers.joined(separator: " "))", completionHandler) }

    package override func renameSearchableItems(
        _ identifiers: [String: String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let renames = identifiers.sorted { $0.key < $1.key }.map { "\($0.key) -> \($0.value)" }
        record("rename \(renames.joined(separator: ", "))", completionHandler)
    }

    package override func reportLeftOut(_ name: String, reason: String) {
        state.withLock { unguarded.leftOut[name] = reason }
    }

    package override func deleteAllSearchableItems(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        record("delete all", completionHandler)
    }
}
