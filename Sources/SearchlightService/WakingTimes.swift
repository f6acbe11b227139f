// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// When sleeps on the clock of a service are over. To cancel one does not keep libdispatch from waking for it, and then it
/// looks at its pools again once a second; so whoever rests has to rest again after each (``RestTimer``).
final class WakingTimes: Sendable {
    private struct State {
        /// In whole seconds, so that there are few.
        var seconds: Set<Int64> = []
        var onSleep: @Sendable () -> Void = {}
    }
    private let state = Mutex(State())
    private let origin = ContinuousClock.now

    /// More than are asked for by as many clients as there may be.
    private static let maximumCount = 4096

    /// Has somebody called whenever a sleep begins, from any thread.
    func onSleep(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onSleep = body } }

    /// Notes that somebody sleeps.
    func noteSleep(until moment: ContinuousClock.Instant) {
        note(moment)
        state.withLock(\.onSleep)()
    }

    /// Notes a moment at which libdispatch wakes.
    func note(_ moment: ContinuousClock.Instant) {
        let second = Int64(((moment - origin) / .seconds(1)).rounded(.up).clamped(to: 0...1e12))
        state.withLock { state in
            guard state.seconds.insert(second).inserted, state.seconds.count > Self.maximumCount else { return }
            state.seconds = state.seconds.filter { $0 > Int64((ContinuousClock.now - origin) / .seconds(1)) }
            // Nobody may sleep for longer and be forgotten while shorter sleeps are known.
            if state.seconds.count > Self.maximumCount, let last = state.seconds.max() { state.seconds.remove(last) }
        }
    }

    /// The second after the next of them; forgets those that are over.
    func next() -> ContinuousClock.Instant? {
        let now = Int64(((ContinuousClock.now - origin) / .seconds(1)).rounded(.down))
        return state.withLock { state in
            state.seconds = state.seconds.filter { $0 >= now }
            return state.seconds.min().map { origin + .seconds($0) + Self.lateness }
        }
    }

    /// How late libdispatch may be; and the second of what is past only just.
    private static let lateness = Duration.milliseconds(1200)
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        min(max(self, range.lowerBound), range.upperBound)
    }
}

/// The continuous clock, of which is known until when somebody sleeps on it.
struct NotedClock: Clock {
    let times: WakingTimes
    private let base = ContinuousClock()

    init(_ times: WakingTimes) { self.times = times }

    var now: ContinuousClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        times.noteSleep(until: deadline)
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
