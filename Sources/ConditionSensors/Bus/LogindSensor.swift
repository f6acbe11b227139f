// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import ServiceProtocol
import Synchronization

/// Sessions, inhibitors and sleep, by systemd-logind or elogind.
///
/// The hint of the whole machine is not used: it is true where there are no sessions, and false for as long as somebody
/// inhibits.
final class LogindSensor: BusSensor {
    static let kind = BusLink.Kind(
        sensor: .logind, make: { LogindSensor($0) },
        forget: { readings in
            readings.sessions = nil
            readings.inhibitors = []
            readings.isAsleep = false
        })

    private struct State {
        var sessions: [String: LoginSession] = [:]
        var inhibitors: [Conditions.Inhibitor] = []
        /// Sessions that are to be asked next.
        var unasked: [String] = []
        var isAsleep = false
        var resumed: Double?
        /// Questions that are not answered; until then little of it is whole.
        var open = 0
        /// Which of several, one after the other, was asked.
        var generation = 0
        /// What it did not answer, by question.
        var problems: [String: String] = [:]
    }
    private let seat: BusSeat
    private let service: BusService
    private let state = Mutex(State())

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let sessions = "/org/freedesktop/login1/session"
    private static let maximumSessions = 64

    init(_ seat: BusSeat) {
        self.seat = seat
        service = BusService(Self.name, on: seat.bus)
    }

    func begin() {
        let members = ["SessionNew", "SessionRemoved", "PrepareForSleep"].map {
            BusService.Signals(BusMember(Self.manager, $0), path: Self.path)
        }
        let properties: [BusService.Signals] = [
            .properties(Self.manager, path: Self.path), .properties(LoginSession.interface, below: Self.sessions),
        ]
        service.begin(hearing: members + properties) { [weak self] event in
            guard let self else { return }
            switch event {
            case .appeared: askAll()
            case .gone: seat.publish(.absent("Nobody on the bus is called \(Self.name)."), Self.kind.forget)
            case .signal(let signal): receive(signal)
            }
        }
    }

    /// Asks once more what was not answered: as long as that is missing nothing counts, and nobody else would ask.
    func look() { if state.withLock({ !$0.problems.isEmpty && $0.open == 0 }) { askAll() } }

    // MARK: Questions

    private func askAll() {
        state.withLock { $0 = State(resumed: $0.resumed, generation: $0.generation + 1) }
        ask("ListInhibitors") { Self.takeInhibitors(&$0, $1) }
        let property: [BusValue] = [.string(Self.manager), .string("PreparingForSleep")]
        ask("Get", of: BusService.properties, property) { state, values in
            state.isAsleep = values.first?.boolean ?? false
        }
        ask("ListSessions") { state, values in
            // Of each: identifier, user, name, seat, path.
            let paths = (values.first?.members ?? []).compactMap { $0.members.last?.text }
            state.unasked = Array(paths.prefix(Self.maximumSessions))
        }
    }

    /// Asks the manager, or a session; all that is known is published once nothing is open.
    private func ask(
        _ member: String, of interface: String = manager, at path: String = path, _ arguments: [BusValue] = [],
        _ take: @escaping @Sendable (inout State, [ForeignValue]) -> Void
    ) {
        let generation = state.withLock { state in
            state.open += 1
            return state.generation
        }
        service.call(path, BusMember(interface, member), arguments) { [weak self] result in
            guard let self else { return }
            let next: [String]? = state.withLock { state in
                guard state.generation == generation else { return nil }
                switch result {
                case .success(let values):
                    take(&state, values)
                    if path == Self.path { state.problems[member] = nil }
                // A session may have ended meanwhile.
                case .failure(let error): if path == Self.path { state.problems[member] = "\(error)" }
                }
                state.open -= 1
                defer { state.unasked = [] }
                return state.unasked
            }
            guard let next else { return }
            for path in next { askSession(path) }
            publish()
        }
    }

    private func askSession(_ path: String) {
        guard path.hasPrefix(Self.sessions + "/") else { return }
        ask("GetAll", of: BusService.properties, at: path, [.string(LoginSession.interface)]) { state, values in
            guard state.sessions[path] != nil || state.sessions.count < Self.maximumSessions else { return }
            state.sessions[path, default: LoginSession()].take(values.first?.entries ?? [:])
        }
    }

    private static func takeInhibitors(_ state: inout State, _ values: [ForeignValue]) {
        let all = (values.first?.members ?? []).compactMap { Conditions.Inhibitor(login: $0) }
        state.inhibitors = Array(Set(all).sorted().prefix(Conditions.Inhibitor.maximumCount))
    }

    // MARK: Signals

    private func receive(_ signal: BusSignal) {
        if let change = PropertyChange(signal) { return receive(change) }
        guard signal.member.interface == Self.manager else { return }
        switch signal.member.member {
        case "SessionNew": if let path = signal.arguments.last?.text { askSession(path) }
        case "SessionRemoved":
            guard let path = signal.arguments.last?.text else { return }
            state.withLock { $0.sessions[path] = nil }
            publish()
        case "PrepareForSleep":
            guard let isAsleep = signal.arguments.first?.boolean else { return }
            let now = seat.roots.now()
            state.withLock { state in
                state.isAsleep = isAsleep
                if !isAsleep { state.resumed = now }
            }
            publish()
        default: break
        }
    }

    private func receive(_ change: PropertyChange) {
        if change.interface == Self.manager {
            // It is told whenever an inhibitor comes or goes, even when the sum stays the same.
            let isAboutInhibitors =
                change.changed["BlockInhibited"] != nil || change.invalidated.contains("BlockInhibited")
            if isAboutInhibitors { ask("ListInhibitors") { Self.takeInhibitors(&$0, $1) } }
            return
        }
        guard change.interface == LoginSession.interface else { return }
        guard LoginSession.names.isDisjoint(with: change.invalidated) else { return askSession(change.path) }
        let isKnown = state.withLock { state in
            state.sessions[change.path]?.take(change.changed)
            return state.sessions[change.path] != nil
        }
        if isKnown { publish() } else { askSession(change.path) }
    }

    private func publish() {
        let now = state.withLock { $0.open == 0 ? $0 : nil }
        guard let now else { return }
        if let problem = now.problems.min(by: { $0.key < $1.key })?.value {
            return seat.publish(.failed("\(Self.name) does not say what it knows. \(problem)"), Self.kind.forget)
        }
        let summary = LoginSession.summary(now.sessions.values, seat.roots)
        seat.publish(.inUse) { readings in
            readings.sessions = summary
            readings.inhibitors = now.inhibitors
            readings.isAsleep = now.isAsleep
            if let resumed = now.resumed { readings.resumed = resumed }
        }
    }
}
