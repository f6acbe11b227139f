// SPDX-License-Identifier: Apache-2.0
import Dispatch
import CommandSupport
import Foundation
import Promises
import Synchronization

/// Shows the progress of a drag on a terminal, if the drag takes longer than half a second.
///
/// Progress arrives on threads that must not block on a terminal, so a serial queue displays the
/// latest progress.
final class DragProgressLine: Sendable {
    /// The duration before progress is shown.
    private static let patience = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(100)
    private static let width = 30

    private struct State {
        /// The progress to show next.
        var latest: DragProgress?
        var next = ContinuousClock.now + patience
        var isScheduled = false
    }
    private let state = Mutex(State())
    private let isShown = Mutex(false)
    private let display = DispatchQueue(label: "com.searchlight.drag.display")
    private let isWanted: Bool

    /// Creates a progress line.
    ///
    /// - Parameter isWanted: `true` if progress may be shown on a terminal.
    init(isWanted: Bool) { self.isWanted = isWanted && Output.showsProgress }

    /// Sets the latest progress. May be called from any thread; never blocks.
    func show(_ progress: DragProgress) {
        guard isWanted else { return }
        let delay = state.withLock { state -> Duration? in
            state.latest = progress
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return max(.zero, ContinuousClock.now.duration(to: state.next))
        }
        guard let delay else { return }
        let nanoseconds = delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000
        display.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in draw() }
    }

    /// Removes the line before other output. It reappears with the next progress report.
    func remove() {
        guard isWanted else { return }
        display.sync {
            state.withLock { $0.latest = nil }
            isShown.withLock { isShown in
                if isShown { Output.progress(nil) }
                isShown = false
            }
        }
    }

    private func draw() {
        let latest = state.withLock { state in
            state.isScheduled = false
            state.next = .now + Self.interval
            defer { state.latest = nil }
            return state.latest
        }
        guard let latest else { return }
        isShown.withLock { isShown in
            isShown = true
            Output.progress("\(Self.text(latest))")
        }
    }

    private static func text(_ progress: DragProgress) -> String {
        let items =
            progress.items > 1 ? ", item \(min(progress.items, progress.endedItems + 1)) of \(progress.items)" : ""
        guard let preparing = progress.preparing else {
            let bytes = ByteLimit(bytes: progress.bytes).description
            let bar = bar(progress.bytes, of: progress.expectedBytes)
            return "\(bar) \(bytes) of \(ByteLimit(bytes: progress.expectedBytes))\(items)"
        }
        guard let percentage = preparing.percentage else {
            let count = preparing.completed > 0 ? " \(preparing.completed) done" : ""
            return "preparing…\(count)\(items)"
        }
        return "\(bar(preparing.completed, of: preparing.total)) preparing, \(percentage) %\(items)"
    }

    private static func bar(_ done: UInt64, of all: UInt64) -> String {
        let share = all == 0 ? 0 : Double(done) / Double(all)
        let filled = Int(min(1, share) * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled) + "]"
    }
}
