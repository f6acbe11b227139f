// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Has long work for which nobody waits take a short break now and then, so that the kernel gives the processor to whoever else
/// wants one.
///
/// That it yields by its niceness is not enough: where another program has two threads and one of them shares a processor with
/// the other, the kernel moves it only when a processor is idle, or after some hundred milliseconds. A break of half a
/// millisecond every ten makes it idle.
final class GentlePace: Sendable {
    private let isOn = Atomic(false)
    private let sinceBreak: Mutex<ContinuousClock.Instant>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let pause: @Sendable () -> Void

    /// How long it works between two breaks.
    static let stretch = Duration.milliseconds(10)
    /// How long a break is, in microseconds: a twentieth of the work.
    private static let breakMicroseconds: UInt32 = 500

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        pause: @escaping @Sendable () -> Void = { usleep(breakMicroseconds) }
    ) {
        (self.now, self.pause) = (now, pause)
        sinceBreak = Mutex(now())
    }

    /// Sets whether nobody waits.
    func set(_ isGentle: Bool) { isOn.store(isGentle, ordering: .relaxed) }

    /// To be called often while working. Blocks for a break when it is time for one.
    func step() {
        guard isOn.load(ordering: .relaxed) else { return }
        let present = now()
        guard sinceBreak.withLock({ present - $0 }) >= Self.stretch else { return }
        pause()
        sinceBreak.withLock { $0 = now() }
    }
}
