// SPDX-License-Identifier: Apache-2.0

/// The processor time that fresh work may use while it passes gates: a bucket that fills at a rate, and from which it takes what it
/// uses. With a full bucket no minute has more than ``SchedulingPolicy/freshBurst`` and sixty times
/// ``SchedulingPolicy/freshRate``, and what is used between two looks.
struct FreshBudget: Sendable {
    /// When the bucket is full again.
    private var full = -Double.infinity

    /// More than what fills in this time, in seconds, is not owed to it: a number that cannot be would hold fresh work for ever.
    private static let longestDebt = 3600.0

    /// What is in it, in seconds of processor time; less than nothing after a job that used more than there was.
    func left(_ policy: SchedulingPolicy, at now: Double) -> Double {
        policy.freshBurst - max(0, full - now) * policy.freshRate
    }

    /// Whether a job has to be quiet.
    ///
    /// - Parameter isRunning: Whether it runs; it goes on until an eighth of the bucket is left, which is used up before it is
    ///   quiet, and begins with a quarter, so that it does not begin for a blink of an eye.
    func isHolding(_ policy: SchedulingPolicy, isRunning: Bool, at now: Double) -> Bool {
        isRunning ? left(policy, at: now) <= policy.freshBurst / 8 : now < opens(policy)
    }

    /// When a job may begin.
    func opens(_ policy: SchedulingPolicy) -> Double { full - policy.freshBurst * 0.75 / policy.freshRate }

    /// Takes out what was used.
    mutating func take(_ cpu: Double, _ policy: SchedulingPolicy, at now: Double) {
        full = min(max(full, now) + cpu / policy.freshRate, now + Self.longestDebt)
    }

    /// Goes along with a clock that was set back.
    mutating func move(by seconds: Double) { full += seconds }
}
