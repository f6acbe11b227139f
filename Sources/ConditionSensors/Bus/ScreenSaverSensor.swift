// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The lock state of the session's screen, from its screen saver: GNOME's interface, or the old
/// freedesktop.org proposal. An active screen saver means that the user is away.
final class ScreenSaverSensor: BusSensor {
    /// The possible service names. Each name determines the path and the interface.
    static let kinds = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"].map { name in
        SensorConnection.Kind(
            sensor: .screenSaver, way: name, make: { ScreenSaverSensor(name, $0) },
            forget: { $0.screenSavers[name] = nil })
    }

    private let name: String
    private let path: String
    private let seat: SensorSubscription
    private let service: BusService

    init(_ name: String, _ seat: SensorSubscription) {
        (self.name, self.seat) = (name, seat)
        path = "/" + name.split(separator: ".").joined(separator: "/")
        service = BusService(name, on: seat.bus)
    }

    func begin() {
        let signals = BusService.Signals(BusMember(name, "ActiveChanged"))
        service.begin(hearing: [signals]) { [weak self] event in
            guard let self else { return }
            switch event {
            case .appeared:
                service.call(path, BusMember(name, "GetActive")) { [weak self] result in self?.take(result) }
            case .gone: forget(.absent("No service on the bus is named \(name)."))
            case .signal(let signal):
                // Some screen savers emit the signal from an undocumented path.
                if signal.member == BusMember(name, "ActiveChanged") { take(.success(signal.arguments)) }
            }
        }
    }

    private func take(_ result: Result<[ForeignValue], BusError>) {
        switch result {
        case .success(let values):
            guard let isActive = values.first?.boolean else {
                return forget(.failed("The answer of \(name) to GetActive is not a Boolean."))
            }
            seat.publish(.inUse) { $0.screenSavers[name] = isActive }
        // GNOME also owns the first name, but implements only its inhibition calls.
        case .failure(.remote(_, let message)):
            forget(.absent("\(name) does not report whether it is active: \(message)"))
        case .failure(let error): forget(.failed("\(name) does not report whether it is active. \(error)"))
        }
    }

    private func forget(_ state: MonitorReport.State) { seat.publish(state) { $0.screenSavers[name] = nil } }
}
