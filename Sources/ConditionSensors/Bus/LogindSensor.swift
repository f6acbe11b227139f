// SPDX-License-Identifier: Apache-2.0
import BusTransport
import IdleScheduling
import Synchronization

/// A sensor for sessions, inhibitors and sleep, based on systemd-logind or elogind.
///
/// It ignores the manager's idle hint, which is true if there are no sessions and false while any
/// inhibitor is active.
final class LogindSensor: BusSensor {
    static let kind = SensorConnection.Kind(
        sensor: .logind, make: { LogindSensor($0) },
        forget: { readings in
            readings.sessions = nil
            readings.inhibitors = []
            readings.isAsleep = false
        })

    private struct State {
        var sessions: [String: LoginSession] = [:]
        var inhibitors: [Conditions.Inhibitor] = []
        /// The paths of the sessions to query next.
        var unasked: [String] = []
        var isAsleep = false
        var resumed: Double?
        /// The number of pending calls. Readings are published only when it is 0.
        var open = 0
        /// The number of logind instances seen so far. Replies to earlier instances are ignored.
        var generation = 0
        /// The errors of failed calls, by method.
        var problems: [String: String] = [:]
    }
    /// The function that makes a call; see ``BusService/call(_:_:_:reply:)``.
    typealias Call = @Sendable (String, BusMember, [BusValue], @escaping BusService.ReplyHandler) -> Void

    private let seat: SensorSubscription
    private let service: BusService
    private let call: Call
    private let state = Mutex(State())

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let sessions = "/org/freedesktop/login1/session"
    private static let maximumSessions = 64

    init(_ seat: SensorSubscription, call: Call? = nil) {
        let service = BusService(Self.name, on: seat.bus)
        (self.seat, self.service) = (seat, service)
        self.call = call ?? { service.call($0, $1, $2, reply: $3) }
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
            case .gone: seat.publish(.absent("No service on the bus is named \(Self.name)."), Self.kind.forget)
            case .signal(let signal): receive(signal)
            }
        }
    }

    /// Repeats the calls if one of them failed. Until all succeed, no readings are published, and
    /// no other code repeats them.
    func look() { if state.withLock({ !$0.problems.isEmpty && $0.open == 0 }) { askAll() } }

    // MARK: Questions

    private struct Question {
        var member: BusMember
        var path = LogindSensor.path
        var arguments: [BusValue] = []
        var take: @Sendable (inout State, [ForeignValue]) -> Void
    }

    private static let inhibitors = Question(member: BusMember(manager, "ListInhibitors")) { takeInhibitors(&$0, $1) }

    private static let everything = [
        inhibitors,
        Question(
            member: BusMember(BusService.properties, "Get"),
            arguments: [.string(manager), .string("PreparingForSleep")]
        ) { state, values in
            state.isAsleep = values.first?.boolean ?? false
        },
        Question(member: BusMember(manager, "ListSessions")) { state, values in
            // The fields of each session: identifier, user, name, seat, path.
            let paths = (values.first?.members ?? []).compactMap { $0.members.last?.text }
            state.unasked = Array(paths.prefix(maximumSessions))
        },
    ]

    func askAll() {
        ask(Self.everything) { $0 = State(resumed: $0.resumed, generation: $0.generation + 1) }
    }

    /// Calls the manager or sessions, and publishes the readings when no call is pending.
    ///
    /// All calls are counted as pending before the first is sent, because its reply may arrive
    /// before the others are sent.
    private func ask(_ questions: [Question], _ begin: (inout State) -> Void = { _ in }) {
        let generation = state.withLock { state in
            begin(&state)
            state.open += questions.count
            return state.generation
        }
        for question in questions {
            call(question.path, question.member, question.arguments) { [weak self] result in
                self?.take(result, of: question, generation)
            }
        }
    }

    private func take(_ result: Result<[ForeignValue], BusError>, of question: Question, _ generation: Int) {
        let next: [String]? = state.withLock { state in
            guard state.generation == generation else { return nil }
            switch result {
            case .success(let values):
                question.take(&state, values)
                if question.path == Self.path { state.problems[question.member.member] = nil }
            // The session may have ended in the meantime.
            case .failure(let error):
                if question.path == Self.path { state.problems[question.member.member] = "\(error)" }
            }
            state.open -= 1
            defer { state.unasked = [] }
            return state.unasked
        }
        guard let next else { return }
        askSessions(next)
        publish()
    }

    private func askSessions(_ paths: [String]) {
        let questions = paths.filter { $0.hasPrefix(Self.sessions + "/") }.map { path in
            Question(
                member: BusMember(BusService.properties, "GetAll"), path: path,
                arguments: [.string(LoginSession.interface)]
            ) { state, values in
                guard state.sessions[path] != nil || state.sessions.count < Self.maximumSessions else { return }
                state.sessions[path, default: LoginSession()].take(values.first?.entries ?? [:])
            }
        }
        ask(questions)
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
        case "SessionNew": if let path = signal.arguments.last?.text { askSessions([path]) }
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
            // logind reports this for each new or released inhibitor, even if the combined value
            // does not change.
            let isAboutInhibitors =
                change.changed["BlockInhibited"] != nil || change.invalidated.contains("BlockInhibited")
            if isAboutInhibitors { ask([Self.inhibitors]) }
            return
        }
        guard change.interface == LoginSession.interface else { return }
        guard LoginSession.names.isDisjoint(with: change.invalidated) else { return askSessions([change.path]) }
        let isKnown = state.withLock { state in
            state.sessions[change.path]?.take(change.changed)
            return state.sessions[change.path] != nil
        }
        if isKnown { publish() } else { askSessions([change.path]) }
    }

    private func publish() {
        let now = state.withLock { $0.open == 0 ? $0 : nil }
        guard let now else { return }
        if let problem = now.problems.min(by: { $0.key < $1.key })?.value {
            return seat.publish(.failed("\(Self.name) does not give its properties. \(problem)"), Self.kind.forget)
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
