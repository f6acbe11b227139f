// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The delegates of this process's indexes: whom the service asks while the app runs.
///
/// Neither indexes nor delegates are retained. That a delegate was released is noticed at the next request, which is then
/// refused, so that the app's extension is asked.
final class IndexDelegates: Sendable {
    private struct Entry { weak var index: CSSearchableIndex? }
    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isWanted = false
    }
    private let state = Mutex(State())
    /// Told when the first delegate comes and when the last one has gone; must not block.
    private let onChange: @Sendable (Bool) -> Void

    init(onChange: @escaping @Sendable (Bool) -> Void) { self.onChange = onChange }

    /// Notes that an index has a delegate now, or has none.
    func set(_ hasDelegate: Bool, for index: CSSearchableIndex) {
        state.withLock { state in
            state.entries[ObjectIdentifier(index)] = hasDelegate ? Entry(index: index) : nil
            update(&state)
        }
    }

    /// Notes that an index is gone.
    func remove(_ index: ObjectIdentifier) {
        state.withLock { state in
            guard state.entries.removeValue(forKey: index) != nil else { return }
            update(&state)
        }
    }

    /// Whom to ask now.
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
        // Not asked under the lock, for a class may override the property.
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
