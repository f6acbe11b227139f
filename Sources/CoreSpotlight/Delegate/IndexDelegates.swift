// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The delegates of this process's indexes, which the service calls while the app runs.
///
/// Neither indexes nor delegates are retained. A released delegate is detected at the next request.
/// The app rejects that request, so that the service uses the app's extension.
final class IndexDelegates: Sendable {
    private struct Entry { weak var index: CSSearchableIndex? }
    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isWanted = false
    }
    private let state = Mutex(State())
    /// Called when the first delegate is set (`true`) and after the last one was removed or
    /// released (`false`). Must not block.
    private let onChange: @Sendable (Bool) -> Void

    init(onChange: @escaping @Sendable (Bool) -> Void) { self.onChange = onChange }

    /// Records whether an index has a delegate.
    func set(_ hasDelegate: Bool, for index: CSSearchableIndex) {
        state.withLock { state in
            state.entries[ObjectIdentifier(index)] = hasDelegate ? Entry(index: index) : nil
            update(&state)
        }
    }

    /// Records that an index was released.
    func remove(_ index: ObjectIdentifier) {
        state.withLock { state in
            guard state.entries.removeValue(forKey: index) != nil else { return }
            update(&state)
        }
    }

    /// The delegates to call now.
    var asked: [AskedDelegate] {
        let indexes = state.withLock { $0.entries.values.compactMap(\.index) }
        let asked = indexes.compactMap { index in
            index.indexDelegate.map { AskedDelegate(index: index, delegate: $0) }
        }
        if asked.isEmpty { forgetReleased() }
        return asked
    }

    private func forgetReleased() {
        let indexes = state.withLock { $0.entries.values.compactMap(\.index) }
        // The property is read outside the lock, because a subclass may override it.
        let released = Set(indexes.filter { $0.indexDelegate == nil }.map(ObjectIdentifier.init))
        state.withLock { state in
            state.entries = state.entries.filter { !released.contains($0.key) }
            update(&state)
        }
    }

    private func update(_ state: inout State) {
        let isWanted = !state.entries.isEmpty
        guard isWanted != state.isWanted else { return }
        state.isWanted = isWanted
        onChange(isWanted)
    }
}
