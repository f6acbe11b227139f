// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// Who is told what extensions do.
final class EventListeners: Sendable {
    private struct State {
        var listeners: [Int: @Sendable (ExtensionEvent) -> Void] = [:]
        var nextNumber = 0
    }
    private let state = Mutex(State())

    /// Has a listener told what one bundle does.
    ///
    /// - Returns: A number for ``end(_:)``.
    func listen(to bundle: String, _ listener: @escaping @Sendable (ExtensionEvent) -> Void) -> Int {
        state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = { if $0.bundle == bundle { listener($0) } }
            return state.nextNumber
        }
    }

    func end(_ number: Int) { state.withLock { $0.listeners[number] = nil } }

    /// Called on any thread.
    func tell(_ event: ExtensionEvent) {
        for listener in state.withLock({ $0.listeners.values.map { $0 } }) { listener(event) }
    }
}
