// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch

/// An index in memory that stores the donated items and records the calls. It answers on other
/// threads, in call order.
final class RecordingIndex: CSSearchableIndex, @unchecked Sendable {
    // Sendable: all state is protected by the lock.
    struct State {
        var calls: [String] = []
        var items: [String: CSSearchableItem] = [:]
        var leftOut: [String: String] = [:]
    }

    private let lock = NSLock()
    private var unguarded = State()
    private let queue = DispatchQueue(label: "answers")
    private let isFailing: Bool

    /// - Parameter isFailing: `true` if donations fail.
    init(isFailing: Bool = false) {
        self.isFailing = isFailing
        super.init(name: "recording")
    }

    var state: State { lock.withLock { unguarded } }

    /// Returns the calls since this function was last called.
    func takeCalls() -> [String] {
        lock.withLock {
            defer { unguarded.calls = [] }
            return unguarded.calls
        }
    }

    private func change(_ done: (@Sendable ((any Error)?) -> Void)?, _ body: (inout State) -> Void) {
        if !isFailing { lock.withLock { body(&unguarded) } }
        queue.async { [isFailing] in done?(isFailing ? CSIndexError(.indexUnavailableError) : nil) }
    }

    override func indexSearchableItems(
        _ items: [CSSearchableItem], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        change(completionHandler) { state in
            state.calls.append("index \(items.count)")
            for item in items where !item.isUpdate { state.items[item.uniqueIdentifier] = item }
        }
    }

    override func deleteSearchableItems(
        withIdentifiers identifiers: [String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        change(completionHandler) { state in
            state.calls.append("delete \(identifiers.count)")
            for identifier in identifiers { state.items[identifier] = nil }
        }
    }

    override func renameSearchableItems(
        _ identifiers: [String: String], completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        change(completionHandler) { state in
            state.calls.append("rename \(identifiers.count)")
            for (old, new) in identifiers { state.items[new] = state.items.removeValue(forKey: old) }
        }
    }

    override func fetchItemIdentifiers(
        after identifier: String? = nil, maximumCount: Int = 1000,
        completionHandler: @escaping @Sendable ([String], (any Error)?) -> Void
    ) {
        let all = lock.withLock { unguarded.items.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
        let page = all.filter { (identifier ?? "").utf8.lexicographicallyPrecedes($0.utf8) }.prefix(maximumCount)
        queue.async { completionHandler(Array(page), nil) }
    }

    override func reportLeftOut(_ name: String, reason: String) { lock.withLock { unguarded.leftOut[name] = reason } }
}
