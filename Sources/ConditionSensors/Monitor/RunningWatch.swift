// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import IdleScheduling
import SystemSupport

/// A thread for close sensing while a job runs. It waits in a single poll(2) call for the kernel's
/// pressure triggers and for the next reading. Its timeout uses CLOCK_MONOTONIC, so no other part
/// of the process can stop it. Exits with its owner.
final class RunningWatch: Sendable {
    /// The callbacks of the thread.
    struct Actions: Sendable {
        /// Called at each ``SchedulerAction/Sensing/lookInterval``.
        var tick: @Sendable () -> Void
        /// Called when a pressure trigger fires.
        var pressure: @Sendable () -> Void
        /// Called once with the state of the triggers.
        var note: @Sendable (MonitorReport.State) -> Void
    }
    private let wake: OwnedDescriptor

    /// A trigger for 300 ms of pressure within 2 s. An unprivileged process may use only multiples
    /// of 2 s.
    static let trigger = "some 300000 2000000"
    private static let pause = SchedulerAction.Sensing.lookInterval

    /// Starts the thread.
    init?(roots: SensorRoots, actions: Actions) {
        let number = csystem_event_descriptor()
        guard number >= 0 else { return nil }
        let wake = OwnedDescriptor(adopting: number)
        self.wake = wake
        let started = OwnThread.start(roots.threadName + "-run") { Self.run(wake, roots, actions) }
        guard started == 0 else { return nil }
    }

    deinit {
        var one: UInt64 = 1
        _ = write(wake.number, &one, 8)
    }

    private static func run(_ wake: OwnedDescriptor, _ roots: SensorRoots, _ actions: Actions) {
        var (triggers, state) = openTriggers(roots)
        actions.note(state)
        var next = monotonic() + pause
        while true {
            var descriptors = [pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0)]
            descriptors += triggers.map { pollfd(fd: $0.number, events: Int16(POLLPRI), revents: 0) }
            let left = max(next - monotonic(), 0)
            let count = poll(&descriptors, nfds_t(descriptors.count), Int32((left * 1000).rounded(.up)))
            if count < 0, errno != EINTR { return }
            if descriptors[0].revents != 0 { return }
            var hasPressure = false
            for (index, entry) in descriptors.dropFirst().enumerated().reversed() where count > 0 && entry.revents != 0
            {
                // A trigger whose file has disappeared would be ready in every call.
                if entry.revents & Int16(POLLPRI) != 0 { hasPressure = true } else { triggers.remove(at: index) }
            }
            if hasPressure { actions.pressure() }
            guard monotonic() >= next else { continue }
            actions.tick()
            next = monotonic() + pause
        }
    }

    private static func openTriggers(_ roots: SensorRoots) -> ([OwnedDescriptor], MonitorReport.State) {
        var triggers: [OwnedDescriptor] = []
        var problem: MonitorReport.State?
        for resource in PressureSensor.resources {
            let path = PressureSensor.path(resource, roots)
            let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            guard number >= 0 else {
                problem = problem ?? SensorFile.Failure(path: path, code: errno).state
                continue
            }
            let file = OwnedDescriptor(adopting: number)
            // The kernel requires the terminating zero byte.
            let length = trigger.utf8.count + 1
            if trigger.withCString({ write(number, $0, length) }) == length {
                triggers.append(file)
            } else {
                let reason = String(cString: strerror(errno))
                problem = problem ?? .failed("\(path) rejects the trigger “\(trigger)”: \(reason).")
            }
        }
        return (triggers, triggers.isEmpty ? problem ?? .inUse : .inUse)
    }

    private static func monotonic() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
