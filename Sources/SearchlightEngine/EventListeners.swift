// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// The registered listeners for extension events.
final class EventListeners: Sendable {
    private struct State {
        var listeners: [Int: @Sendable (ExtensionEvent) -> Void] = [:]
        var nextNumber = 0
    }
    private let state = Mutex(State())

    /// Registers a listener for the events of one bundle.
    ///
    /// - Returns: The listener's number, for ``end(_:)``.
    func listen(to bundle: String, _ listener: @escaping @Sendable (ExtensionEvent) -> Void) -> Int {
        state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = { if $0.bundle == bundle { listener($0) } }
            return state.nextNumber
        }
    }

    func end(_ number: Int) { state.withLock { $0.listeners[number] = nil } }

    /// Calls each listener that is registered for the event's bundle. May be called on any thread.
    func tell(_ event: ExtensionEvent) {
        for listener in state.withLock({ $0.listeners.values.map { $0 } }) { listener(event) }
    }
}
