// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// Has long work for which nobody waits take a short break now and then while threads wait for a processor, so that the kernel
/// gives them this one.
///
/// That it yields by its niceness is not enough: where another program has two threads and one of them shares a processor with
/// the other, the kernel moves it only when a processor is idle, or after some hundred milliseconds. A break of half a
/// millisecond every ten makes it idle. Where no thread waits, a break would help nobody and cost the work a seventh of its
/// speed on a virtual machine (docs/PERFORMANCE.md), more than the break is long.
final class GentlePace: Sendable {
    private let isOn = Atomic(false)
    private let lastLook: Mutex<ContinuousClock.Instant>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let isContended: @Sendable () -> Bool
    private let pause: @Sendable () -> Void

    /// How long it works between two breaks, and between two looks whether one is due.
    static let stretch = Duration.milliseconds(10)
    /// How long a break is, in microseconds: a twentieth of the work.
    private static let breakMicroseconds: UInt32 = 500

    /// - Parameter isContended: Whether threads wait for a processor.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        isContended: @escaping @Sendable () -> Bool = { [contention = ProcessorContention()] in contention.isPresent },
        pause: @escaping @Sendable () -> Void = { usleep(breakMicroseconds) }
    ) {
        (self.now, self.isContended, self.pause) = (now, isContended, pause)
        lastLook = Mutex(now())
    }

    /// Sets whether nobody waits.
    func set(_ isGentle: Bool) { isOn.store(isGentle, ordering: .relaxed) }

    /// To be called often while working. Blocks for a break when it is time for one and threads wait for a processor.
    func step() {
        guard isOn.load(ordering: .relaxed) else { return }
        let present = now()
        guard lastLook.withLock({ present - $0 }) >= Self.stretch else { return }
        if isContended() { pause() }
        lastLook.withLock { $0 = now() }
    }
}
