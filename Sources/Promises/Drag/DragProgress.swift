// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How far a drag has come.
public struct DragProgress: Hashable, Sendable {
    /// How many items there are.
    public var items: Int
    /// How many of them have ended, well or not.
    public var endedItems = 0
    /// How far the provider of the item under way has come, until it has answered; `nil` then.
    public var preparing: ProviderProgress?
    /// How many bytes have arrived, of all items.
    public var bytes: UInt64 = 0
    /// How many bytes there will be when the item under way is done.
    public var expectedBytes: UInt64 = 0
}

/// Where a session notes its progress.
final class DragProgressBoard: Sendable {
    private struct State {
        var progress: DragProgress
        /// What had arrived when the delivery under way began.
        var base: UInt64 = 0
        /// How often a provider was asked something.
        var asking = 0
    }
    private let state: Mutex<State>
    private let onProgress: @Sendable (DragProgress) -> Void

    init(items: Int, _ onProgress: @escaping @Sendable (DragProgress) -> Void) {
        state = Mutex(State(progress: DragProgress(items: items)))
        self.onProgress = onProgress
    }

    /// How many bytes the items before have.
    var delivered: UInt64 { state.withLock { $0.base } }

    func moved(_ bytes: UInt64) { change { $0.progress.bytes &+= bytes } }

    func expect(_ bytes: UInt64) { change { $0.progress.expectedBytes = $0.base &+ bytes } }

    /// - Returns: A number for ``prepared(_:asking:)``.
    func askingBegan() -> Int {
        change { state in
            state.asking += 1
            state.progress.preparing = ProviderProgress()
        }
        return state.withLock { $0.asking }
    }

    /// What is told too late, of something that is not waited for any more, is passed over.
    func prepared(_ progress: ProviderProgress, asking: Int) {
        change { state in
            guard state.asking == asking, state.progress.preparing != nil else { return }
            state.progress.preparing = progress
        }
    }

    /// What an attempt that failed had brought does not count.
    func deliveryBegan() {
        change { state in
            state.progress.preparing = nil
            state.progress.bytes = state.base
        }
    }

    func itemEnded() {
        change { state in
            state.progress.preparing = nil
            state.progress.endedItems += 1
            state.base = state.progress.bytes
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let progress = state.withLock { state in
            body(&state)
            return state.progress
        }
        onProgress(progress)
    }
}
