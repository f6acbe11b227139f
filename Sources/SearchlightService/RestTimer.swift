// SPDX-License-Identifier: Apache-2.0
import CSystem
import Synchronization

/// Notes when nothing has been under way for some seconds: then memory that is only kept for reuse is given back, and
/// nothing wakes the process until something begins again.
final class RestTimer: Sendable {
    private struct State {
        var timer: Task<Void, Never>?
        var isResting = false
        var hasEnded = false
        /// Begins the rest again after something that nobody waits for has ended it.
        var renewal: Task<Void, Never>?
    }
    /// Longer than the index takes to apply what was donated.
    static let pause = Duration.seconds(3)

    private let state = Mutex(State())
    private let activity: @Sendable () -> ServiceActivity.Load
    private let release: @Sendable () async -> Void
    private let pools = PoolWatch()
    private let times: WakingTimes

    /// - Parameters:
    ///   - times: When the process is woken by the clock of the service.
    ///   - release: Gives back memory that is only kept for reuse.
    init(
        activity: @escaping @Sendable () -> ServiceActivity.Load, times: WakingTimes,
        release: @escaping @Sendable () async -> Void
    ) {
        (self.activity, self.times, self.release) = (activity, times, release)
        times.onSleep { [weak self] in self?.noteSleep() }
    }

    /// Requests have become some or none.
    func update() {
        state.withLock { state in
            if activity().requests > 0 {
                if state.isResting { pools.wake() }
                state.isResting = false
                state.renewal?.cancel()
                state.renewal = nil
            } else if state.timer == nil, !state.isResting, !state.hasEnded {
                state.timer = Task { [weak self] in await self?.waitForRest() }
            }
        }
    }

    /// Somebody sleeps, although nothing is under way: libdispatch has set its timers for that.
    private func noteSleep() {
        state.withLock { state in
            guard state.isResting else { return }
            times.note(ContinuousClock.now)
            renew(&state)
        }
    }

    /// Has the rest begun again after the next time at which the process is woken.
    private func renew(_ state: inout State) {
        state.renewal?.cancel()
        state.renewal = times.next().map { moment in Task { [weak self] in await self?.restAgain(at: moment) } }
    }

    private func restAgain(at moment: ContinuousClock.Instant) async {
        do { try await ContinuousClock().sleep(until: moment) } catch {
            // Given up, and yet libdispatch wakes for it.
            return times.note(moment)
        }
        state.withLock { state in
            guard state.isResting else { return }
            if !pools.restAgain() { times.note(ContinuousClock.now) }
            state.renewal = nil
            renew(&state)
        }
    }

    private func waitForRest() async {
        var last = activity().total
        var hasReleased = false
        while true {
            // The clock that goes on while the pools rest.
            guard (try? await ContinuousClock().sleep(for: Self.pause)) != nil else { return }
            let load = activity()
            guard load.requests == 0, load.total == last else {
                (last, hasReleased) = (load.total, false)
                continue
            }
            // It takes a moment, after which the allocator has more to give back.
            if !hasReleased {
                hasReleased = true
                await release()
                continue
            }
            MappedCode.release()
            csystem_trim_memory()
            let isDone = state.withLock { state in
                let load = activity()
                // Something that was over at once may have left timers that are to run.
                guard load.requests > 0 || load.total == last else { return false }
                if load.requests == 0, !state.hasEnded {
                    // It is tried again later; until then something wakes the process in any case.
                    guard pools.rest() else { return false }
                    state.isResting = true
                    renew(&state)
                }
                state.timer = nil
                return true
            }
            if isDone { break }
        }
        // What began in between found no rest to end.
        update()
    }

    /// Ends a rest for good.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.timer?.cancel()
            state.renewal?.cancel()
            pools.wake()
        }
    }
}
