// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// Inserts short breaks into long background work while threads wait for a processor, so that the
/// kernel can run them on this processor.
///
/// A low priority alone does not achieve this. If two threads of another program share a processor,
/// the kernel migrates one of them only to an idle processor, or after several hundred
/// milliseconds. A break of half a millisecond every ten milliseconds makes this processor idle.
/// Breaks are useless if no thread waits, and cost more than their length: a seventh of the work's
/// speed on a virtual machine (docs/PERFORMANCE.md).
final class CooperativeThrottle: Sendable {
    private let isOn = Atomic(false)
    private let lastLook: Mutex<ContinuousClock.Instant>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let isContended: @Sendable () -> Bool
    private let pause: @Sendable () -> Void

    /// The time between two breaks, and between two checks for contention.
    static let stretch = Duration.milliseconds(10)
    /// The length of a break, in microseconds: a twentieth of the work.
    private static let breakMicroseconds: UInt32 = 500

    /// - Parameter isContended: Returns `true` if threads wait for a processor.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        isContended: @escaping @Sendable () -> Bool = { [contention = ProcessorContention()] in contention.isPresent },
        pause: @escaping @Sendable () -> Void = { usleep(breakMicroseconds) }
    ) {
        (self.now, self.isContended, self.pause) = (now, isContended, pause)
        lastLook = Mutex(now())
    }

    /// Sets whether the work has low priority because no caller waits for it.
    func set(_ isGentle: Bool) { isOn.store(isGentle, ordering: .relaxed) }

    /// Blocks for a break if one is due and threads wait for a processor. Call it often during the
    /// work.
    func step() {
        guard isOn.load(ordering: .relaxed) else { return }
        let present = now()
        guard lastLook.withLock({ present - $0 }) >= Self.stretch else { return }
        if isContended() { pause() }
        lastLook.withLock { $0 = now() }
    }
}
