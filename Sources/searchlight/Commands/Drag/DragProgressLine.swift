// SPDX-License-Identifier: Apache-2.0
import Foundation
import Promises
import Synchronization

/// Shows how far a drag has come, on a terminal, once it takes longer than a moment.
final class DragProgressLine: Sendable {
    /// What is done sooner needs no bar.
    private static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(100)
    private static let width = 30

    private struct State {
        var next: ContinuousClock.Instant
        var isShown = false
    }
    private let state = Mutex(State(next: .now + patience))

    func show(_ progress: DragProgress) {
        guard Output.showsProgress else { return }
        state.withLock { state in
            guard ContinuousClock.now >= state.next else { return }
            state.next = .now + Self.interval
            state.isShown = true
            Output.progress("\(Self.text(progress))")
        }
    }

    /// Removes the line, before something else is printed.
    func remove() {
        state.withLock { state in
            if state.isShown { Output.progress(nil) }
            state.isShown = false
        }
    }

    static func text(_ progress: DragProgress) -> String {
        let share = progress.expectedBytes == 0 ? 0 : Double(progress.bytes) / Double(progress.expectedBytes)
        let filled = Int(min(1, share) * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled)
        let bytes = ByteLimit(bytes: progress.bytes).description
        let items =
            progress.items > 1 ? ", item \(min(progress.items, progress.endedItems + 1)) of \(progress.items)" : ""
        return "[\(bar)] \(bytes) of \(ByteLimit(bytes: progress.expectedBytes))\(items)"
    }
}
