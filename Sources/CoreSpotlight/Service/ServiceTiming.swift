// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// The clock, the timer and the random numbers that the connection to the service uses. Tests
/// replace them.
struct ServiceTiming: Sendable {
    /// Returns the time since a fixed moment.
    var now: @Sendable () -> Duration
    /// Calls a closure after a delay, on any thread. The returned closure cancels the call.
    var after: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Returns a random number from 0 up to, but not including, 1.
    var chance: @Sendable () -> Double

    /// The time after which a request fails if there is no service.
    static let patience = Duration.seconds(30)
    /// The time after losing the connection during which reconnection is attempted only for the
    /// delegate.
    static let delegatePatience = Duration.seconds(600)
    /// The maximum time for the service to reply to the greeting.
    static let greeting = Duration.seconds(10)
    private static let firstDelay = Duration.milliseconds(50)
    private static let longestDelay = Duration.seconds(5)

    /// The system clock, which includes the time during which the system sleeps.
    static let system: ServiceTiming = {
        let clock = ContinuousClock()
        let start = clock.now
        return ServiceTiming(
            now: { start.duration(to: clock.now) },
            after: { delay, body in
                // Work items can be cancelled from any thread.
                nonisolated(unsafe) let item = DispatchWorkItem { body() }
                let nanoseconds =
                    Int(clamping: delay.components.seconds * 1_000_000_000)
                    + Int(delay.components.attoseconds / 1_000_000_000)
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: item)
                return { item.cancel() }
            },
            chance: { Double.random(in: 0..<1) })
    }()

    /// Returns the delay before the next connection attempt.
    ///
    /// The delay doubles after each failure, and is randomly reduced by up to half, so that the
    /// clients of a restarted service do not all connect at once.
    func delay(beforeAttempt attempt: Int) -> Duration {
        let doubled = Self.firstDelay * (1 << min(max(attempt - 1, 0), 16))
        return min(doubled, Self.longestDelay) * (0.5 + chance() / 2)
    }
}
