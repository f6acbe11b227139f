// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Synchronization

/// A sensor that reads properties of one D-Bus object. It reads them when the service appears, and
/// follows their changes.
final class PropertySensor: BusSensor {
    /// The properties to read, and how to interpret them.
    struct Plan: Sendable {
        var service: String
        var path: String
        var interface: String
        var names: Set<String>
        /// `true` if changes are frequent. They are then followed only while a job runs, and
        /// otherwise read at each check.
        var isFrequent = false
        /// Converts the values to a change of the readings; returns `nil` if they are invalid.
        var meaning: @Sendable ([String: ForeignValue]) -> (@Sendable (inout Readings) -> Void)?
        var forget: @Sendable (inout Readings) -> Void
    }
    private struct State {
        var values: [String: ForeignValue] = [:]
        var isAsking = false
        var isHearing = false
        var isThere = false
    }
    private let plan: Plan
    private let seat: SensorSubscription
    private let service: BusService
    private let state = Mutex(State())

    init(_ plan: Plan, _ seat: SensorSubscription) {
        (self.plan, self.seat) = (plan, seat)
        service = BusService(plan.service, on: seat.bus)
    }

    private var signals: BusService.Signals { .properties(plan.interface, path: plan.path) }

    func begin() {
        service.begin(hearing: plan.isFrequent ? [] : [signals]) { [weak self] in self?.receive($0) }
    }

    func look() { if plan.isFrequent, state.withLock({ $0.isThere && !$0.isHearing }) { ask() } }

    func sense(running: Bool) {
        guard plan.isFrequent else { return }
        let isOther = state.withLock { state in
            defer { state.isHearing = running }
            return state.isHearing != running
        }
        guard isOther else { return }
        if running { service.hear(signals) } else { service.ignore(signals) }
        if running, state.withLock({ $0.isThere }) { ask() }
    }

    private func receive(_ event: BusService.Event) {
        switch event {
        case .appeared:
            state.withLock { state in
                state.values = [:]
                state.isAsking = false
                state.isThere = true
            }
            ask()
        case .gone:
            state.withLock { $0.isThere = false }
            seat.publish(.absent("No service on the bus is named \(plan.service)."), plan.forget)
        case .signal(let signal):
            guard let change = PropertyChange(signal), change.path == plan.path, change.interface == plan.interface
            else {
                return
            }
            take(change.changed)
            if !plan.names.isDisjoint(with: change.invalidated) { ask() }
        }
    }

    private func ask() {
        let isFirst = state.withLock { state in
            defer { state.isAsking = true }
            return !state.isAsking
        }
        guard isFirst else { return }
        service.properties(plan.path, plan.interface) { [weak self] result in
            guard let self else { return }
            state.withLock { $0.isAsking = false }
            switch result {
            case .success(let values): take(values, isAnswer: true)
            case .failure(let error):
                seat.publish(.failed("\(plan.service) does not give its properties. \(error)"), plan.forget)
            }
        }
    }

    private func take(_ new: [String: ForeignValue], isAnswer: Bool = false) {
        let values: [String: ForeignValue]? = state.withLock { state in
            guard isAnswer || !plan.names.isDisjoint(with: new.keys) else { return nil }
            for name in plan.names { if let value = new[name] { state.values[name] = value } }
            return state.values
        }
        guard let values else { return }
        if let meaning = plan.meaning(values) {
            seat.publish(.inUse, meaning)
        } else {
            seat.publish(.failed("The properties of \(plan.path) from \(plan.service) are not usable."), plan.forget)
        }
    }
}
