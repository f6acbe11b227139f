// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TortureSupport

/// Counts how often the donor passes each point, and kills it at the target.
final class PointWatch: Sendable {
    private struct State {
        var phase = DonorPhase.opening
        var counts: [KillSite: Int] = [:]
    }

    private let state = Mutex(State())
    private let target: KillSite?
    private let occurrence: Int

    /// Creates a watch that kills the process when it passes a site for the n-th time; never if the
    /// site is `nil`.
    init(target: KillSite?, occurrence: Int) {
        self.target = target
        self.occurrence = occurrence
    }

    func enter(_ phase: DonorPhase) { state.withLock { $0.phase = phase } }

    /// Counts the pass. Returns `true` if the process must end here.
    func isReached(_ point: CommitPoint) -> Bool {
        state.withLock { state in
            let site = KillSite(state.phase, point)
            state.counts[site, default: 0] += 1
            return site == target && state.counts[site] == occurrence
        }
    }

    /// Passes a point; does not return if the point is the target.
    func pass(_ point: CommitPoint) { if isReached(point) { Self.die() } }

    /// Kills the process with SIGKILL.
    static func die() -> Never {
        kill(getpid(), SIGKILL)
        // Other threads may run a moment longer, but this thread does nothing more.
        while true { pause() }
    }
}
