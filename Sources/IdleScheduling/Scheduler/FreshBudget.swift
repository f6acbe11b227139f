// SPDX-License-Identifier: Apache-2.0

/// The processor time that fresh work may use while it passes gates: a token bucket.
///
/// The bucket fills at ``SchedulingPolicy/freshRate``. Starting with a full bucket, fresh work uses
/// in any minute at most ``SchedulingPolicy/freshBurst``, plus sixty times the rate, plus the use
/// between two checks.
struct FreshBudget: Sendable {
    /// The time at which the bucket will be full again.
    private var full = -Double.infinity

    /// The maximum debt, expressed as the time in which it is refilled, in seconds. It prevents an
    /// implausible report from holding fresh work indefinitely.
    private static let longestDebt = 3600.0

    /// Returns the processor time left in the bucket, in seconds. It is negative after a job that
    /// used more than was available.
    func left(_ policy: SchedulingPolicy, at now: Double) -> Double {
        policy.freshBurst - max(0, full - now) * policy.freshRate
    }

    /// Returns `true` if a job must pause.
    ///
    /// - Parameter isRunning: `true` if the job runs. A running job may continue until an eighth of
    ///   the bucket is left, which covers the processor time it uses until it has paused. A job
    ///   starts only with a quarter, so that it does not start for a very short time.
    func isHolding(_ policy: SchedulingPolicy, isRunning: Bool, at now: Double) -> Bool {
        isRunning ? left(policy, at: now) <= policy.freshBurst / 8 : now < opens(policy)
    }

    /// Returns the time at which a job may start.
    func opens(_ policy: SchedulingPolicy) -> Double { full - policy.freshBurst * 0.75 / policy.freshRate }

    /// Subtracts the processor time that was used.
    mutating func take(_ cpu: Double, _ policy: SchedulingPolicy, at now: Double) {
        full = min(max(full, now) + cpu / policy.freshRate, now + Self.longestDebt)
    }

    /// Shifts the state after the clock was set back.
    mutating func move(by seconds: Double) { full += seconds }
}
