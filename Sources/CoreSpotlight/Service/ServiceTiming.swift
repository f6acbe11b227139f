// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Time and chance, as the connection to the service sees them; tests have their own.
struct ServiceTiming: Sendable {
    /// How long ago some fixed moment is.
    var now: @Sendable () -> Duration
    /// Calls a closure after a while, on any thread, unless the closure it gives back is called first.
    var after: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// A number from 0 up to, but not including, 1.
    var chance: @Sendable () -> Double

    /// How long a request waits for a service before it fails.
    static let patience = Duration.seconds(30)
    /// How long after its loss a connection is sought for the delegate's sake alone.
    static let delegatePatience = Duration.seconds(600)
    /// How long the service may take to greet.
    static let greeting = Duration.seconds(10)
    private static let firstDelay = Duration.milliseconds(50)
    private static let longestDelay = Duration.seconds(5)

    /// The clock of the system, which goes on while it sleeps.
    static let system: ServiceTiming = {
        let clock = ContinuousClock()
        let start = clock.now
        return ServiceTiming(
            now: { start.duration(to: clock.now) },
            after: { delay, body in
                // Work items may be cancelled from any thread.
                nonisolated(unsafe) let item = DispatchWorkItem { body() }
                let nanoseconds =
                    Int(clamping: delay.components.seconds * 1_000_000_000)
                    + Int(delay.components.attoseconds / 1_000_000_000)
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: item)
                return { item.cancel() }
            },
            chance: { Double.random(in: 0..<1) })
    }()

    /// How long to wait before the next attempt to connect: twice as long after each failure, and at random between half
    /// of that and all, so that the clients of a service that restarts do not come all at once.
    func delay(beforeAttempt attempt: Int) -> Duration {
        let doubled = Self.firstDelay * (1 << min(max(attempt - 1, 0), 16))
        return min(doubled, Self.longestDelay) * (0.5 + chance() / 2)
    }
}
