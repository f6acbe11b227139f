// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TortureSupport

/// Counts how often the donor comes by each point, and ends it at the one it was told.
final class PointWatch: Sendable {
    private struct State {
        var phase = DonorPhase.opening
        var counts: [KillSite: Int] = [:]
    }

    private let state = Mutex(State())
    private let target: KillSite?
    private let occurrence: Int

    /// Ends the process when it comes by a site for the n-th time; never if the site is `nil`.
    init(target: KillSite?, occurrence: Int) {
        self.target = target
        self.occurrence = occurrence
    }

    func enter(_ phase: DonorPhase) { state.withLock { $0.phase = phase } }

    /// Whether this is the point and the time at which the process ends.
    func isReached(_ point: CommitPoint) -> Bool {
        state.withLock { state in
            let site = KillSite(state.phase, point)
            state.counts[site, default: 0] += 1
            return site == target && state.counts[site] == occurrence
        }
    }

    /// Comes by a point; does not return if it is the one.
    func pass(_ point: CommitPoint) { if isReached(point) { Self.die() } }

    /// Ends the process at this instant, as the kernel or a person would.
    static func die() -> Never {
        kill(getpid(), SIGKILL)
        // Other threads may still run for a moment, this one does nothing more.
        while true { pause() }
    }
}
