// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Synchronization

/// The time of the last input in the session, from GNOME's compositor
/// (`org.gnome.Mutter.IdleMonitor`).
///
/// The time is exact to the second and needs no polling. An idle watch reports a minute without
/// input, and a user-active watch reports the next input.
final class CompositorSensor: BusSensor {
    static let kind = SensorConnection.Kind(
        sensor: .idleMonitor, make: { CompositorSensor($0) }, forget: { $0.compositor = nil })

    private struct Watches {
        var away: UInt64?
        var back: UInt64?
        /// The number of compositor instances seen so far. Replies to earlier instances are
        /// ignored.
        var generation = 0
    }
    private let seat: SensorSubscription
    private let service: BusService
    private let watches = Mutex(Watches())

    private static let interface = "org.gnome.Mutter.IdleMonitor"
    private static let path = "/org/gnome/Mutter/IdleMonitor/Core"
    /// The idle time, in milliseconds, after which the user is considered away.
    private static let threshold: UInt64 = 60_000

    init(_ seat: SensorSubscription) {
        self.seat = seat
        service = BusService(Self.interface, on: seat.bus)
    }

    func begin() {
        let fired = BusService.Signals(BusMember(Self.interface, "WatchFired"), path: Self.path)
        service.begin(hearing: [fired]) { [weak self] event in
            guard let self else { return }
            switch event {
            case .appeared: ask()
            case .gone:
                seat.publish(.absent("No service on the bus is named \(Self.interface).")) { $0.compositor = nil }
            case .signal(let signal): receive(signal)
            }
        }
    }

    private func call(
        _ member: String, _ arguments: [BusValue] = [], _ take: @escaping @Sendable (CompositorSensor, UInt64) -> Void
    ) {
        let generation = watches.withLock { $0.generation }
        service.call(Self.path, BusMember(Self.interface, member), arguments) { [weak self] result in
            guard let self, watches.withLock({ $0.generation }) == generation else { return }
            switch result {
            case .success(let values):
                if let number = values.first?.unsigned { return take(self, number) }
                fail("its answer to \(member) is not a number")
            case .failure(let error): fail("\(error)")
            }
        }
    }

    private func fail(_ reason: String) {
        seat.publish(.failed("\(Self.interface) does not report when the session is idle: \(reason)")) {
            $0.compositor = nil
        }
    }

    private func ask() {
        watches.withLock { $0 = Watches(generation: $0.generation + 1) }
        call("AddIdleWatch", [.unsigned(Self.threshold)]) { sensor, number in
            sensor.watches.withLock { $0.away = number }
        }
        call("GetIdletime") { sensor, idle in
            if idle >= Self.threshold { sensor.noteAway(idle) } else { sensor.publish(.now) }
        }
    }

    private func noteAway(_ idle: UInt64) {
        let now = seat.roots.now()
        publish(.last(now - min(Double(idle) / 1000, max(now, 0))))
        call("AddUserActiveWatch") { sensor, number in sensor.watches.withLock { $0.back = number } }
    }

    private func publish(_ use: Readings.Use) { seat.publish(.inUse) { $0.compositor = use } }

    private func receive(_ signal: BusSignal) {
        guard signal.member == BusMember(Self.interface, "WatchFired"), let number = signal.arguments.first?.unsigned
        else { return }
        let (isAway, isBack) = watches.withLock { watches in
            defer { if number == watches.back { watches.back = nil } }
            return (number == watches.away, number == watches.back)
        }
        if isAway { noteAway(Self.threshold) } else if isBack { publish(.now) }
    }
}
