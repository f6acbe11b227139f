// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The progress of a drag.
public struct DragProgress: Hashable, Sendable {
    /// The number of items.
    public var items: Int
    /// The number of items that have ended, with or without success.
    public var endedItems = 0
    /// The provider's progress on the current item until the provider has answered; otherwise
    /// `nil`.
    public var preparing: ProviderProgress?
    /// The number of bytes that have arrived, for all items.
    public var bytes: UInt64 = 0
    /// The total number of bytes once the current item is finished.
    public var expectedBytes: UInt64 = 0
}

/// Collects a session's progress.
final class DragProgressBoard: Sendable {
    private struct State {
        var progress: DragProgress
        /// The number of bytes from before the current delivery.
        var base: UInt64 = 0
        /// The number of requests to providers.
        var asking = 0
    }
    private let state: Mutex<State>
    private let onProgress: @Sendable (DragProgress) -> Void

    init(items: Int, _ onProgress: @escaping @Sendable (DragProgress) -> Void) {
        state = Mutex(State(progress: DragProgress(items: items)))
        self.onProgress = onProgress
    }

    /// The number of bytes from earlier items.
    var delivered: UInt64 { state.withLock { $0.base } }

    func moved(_ bytes: UInt64) { change { $0.progress.bytes &+= bytes } }

    func expect(_ bytes: UInt64) { change { $0.progress.expectedBytes = $0.base &+ bytes } }

    /// Records the start of a request.
    ///
    /// - Returns: A number for ``prepared(_:asking:)``.
    func askingBegan() -> Int {
        change { state in
            state.asking += 1
            state.progress.preparing = ProviderProgress()
        }
        return state.withLock { $0.asking }
    }

    /// Records a provider's progress. Late reports about an earlier request are ignored.
    func prepared(_ progress: ProviderProgress, asking: Int) {
        change { state in
            guard state.asking == asking, state.progress.preparing != nil else { return }
            state.progress.preparing = progress
        }
    }

    /// Starts a delivery. Bytes from a failed attempt do not count.
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
