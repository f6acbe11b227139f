// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Another program on a message bus, by the name it goes by, such as `org.freedesktop.login1`: its calls and its signals,
/// while there is one. It is never started for that.
///
/// Signals count only from who has the name: anybody may send anything to anybody over a system's bus. All methods may be
/// called from any thread; handlers are called on the connection's thread and must not block.
public final class BusService: Sendable {
    /// What happens.
    public enum Event: Sendable {
        /// There is one now, or another one: what was known of it holds no more.
        case appeared
        /// There is none, or none any more.
        case gone
        /// One of the signals that were asked for, or another that was sent here.
        case signal(BusSignal)
    }
    /// Which signals are heard.
    public struct Signals: Hashable, Sendable {
        var path: String?
        var pathNamespace: String?
        var member: BusMember
        var argument: String?

        /// Creates a rule.
        ///
        /// - Parameters:
        ///   - path: The object that tells it; of all if `nil`.
        ///   - below: Or all objects below this one.
        ///   - argument: What its first argument is; anything if `nil`.
        public init(_ member: BusMember, path: String? = nil, below: String? = nil, argument: String? = nil) {
            (self.path, pathNamespace, self.member, self.argument) = (path, below, member, argument)
        }

        /// Those that tell of the properties of an interface.
        public static func properties(_ interface: String, path: String? = nil, below: String? = nil) -> Signals {
            Signals(
                BusMember(BusService.properties, "PropertiesChanged"), path: path, below: below, argument: interface)
        }
    }

    /// The interface of properties.
    public static let properties = "org.freedesktop.DBus.Properties"

    /// Receives the values of a call's answer.
    public typealias ReplyHandler = @Sendable (Result<[ForeignValue], BusError>) -> Void

    /// The name it goes by.
    public let name: String
    private let bus: MessageBus
    private struct State {
        var owner: String?
        var onEvent: (@Sendable (Event) -> Void)?
    }
    private let state = Mutex(State())

    /// Names a program. Nothing is asked before ``begin(hearing:onEvent:)``.
    public init(_ name: String, on bus: MessageBus) { (self.name, self.bus) = (name, bus) }

    /// Begins to follow the name, once. The first event says whether there is such a program.
    ///
    /// - Parameter onEvent: Called with each event; never again once this object is gone.
    public func begin(hearing signals: [Signals], onEvent: @escaping @Sendable (Event) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        for rule in signals { hear(rule) }
        bus.follow(self)
    }

    /// Takes note of who has the name.
    func setOwner(_ new: String?) {
        let (old, onEvent) = state.withLock { state in
            defer { state.owner = new }
            return (state.owner, state.onEvent)
        }
        bus.listen(to: new, insteadOf: old, self)
        onEvent?(new == nil ? .gone : .appeared)
    }

    /// Whether it is this one's signal that somebody has sent.
    func receive(_ signal: BusSignal) { state.withLock { $0.onEvent }?(.signal(signal)) }

    /// Calls it. Fails with ``BusError/disconnected`` while there is none.
    public func call(
        _ path: String, _ member: BusMember, _ arguments: [BusValue] = [], reply: @escaping ReplyHandler
    ) {
        guard let owner = state.withLock({ $0.owner }) else { return reply(.failure(.disconnected)) }
        bus.call(owner, path: path, member, arguments, reply: reply)
    }

    /// Asks for the properties of an interface.
    public func properties(
        _ path: String, _ interface: String,
        reply: @escaping @Sendable (Result<[String: ForeignValue], BusError>) -> Void
    ) {
        call(path, BusMember(Self.properties, "GetAll"), [.string(interface)]) { result in
            reply(result.map { $0.first?.entries ?? [:] })
        }
    }

    /// Begins to hear more signals.
    public func hear(_ signals: Signals) { bus.addRule(rule(signals)) }

    /// Hears these no more.
    public func ignore(_ signals: Signals) { bus.removeRule(rule(signals)) }

    private func rule(_ signals: Signals) -> String {
        var rule = "type='signal',sender='\(name)'"
        rule += ",interface='\(signals.member.interface)',member='\(signals.member.member)'"
        if let path = signals.path { rule += ",path='\(path)'" }
        if let below = signals.pathNamespace { rule += ",path_namespace='\(below)'" }
        if let argument = signals.argument { rule += ",arg0='\(argument)'" }
        return rule
    }
}
