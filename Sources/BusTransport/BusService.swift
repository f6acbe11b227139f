// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Another program on a message bus, by its well-known name, such as `org.freedesktop.login1`:
/// calls to it, and its signals while it is running. Using this type never starts the program.
///
/// Only signals from the owner of the name are passed on, since any process may send signals over a
/// system bus. All methods may be called from any thread; handlers are called on the connection's
/// thread and must not block.
public final class BusService: Sendable {
    /// An event from the program.
    public enum Event: Sendable {
        /// The program has started or was replaced; its earlier state is invalid.
        case appeared
        /// The program is not running, or has exited.
        case gone
        /// A requested signal, or another signal that was sent to this connection.
        case signal(BusSignal)
    }
    /// A match rule for signals.
    public struct Signals: Hashable, Sendable {
        var path: String?
        var pathNamespace: String?
        var member: BusMember
        var argument: String?

        /// Creates a rule.
        ///
        /// - Parameters:
        ///   - path: The object that sends the signal; `nil` for any.
        ///   - below: The object in whose subtree the sender must be, as an alternative to `path`.
        ///   - argument: The value of the first argument; `nil` for any.
        public init(_ member: BusMember, path: String? = nil, below: String? = nil, argument: String? = nil) {
            (self.path, pathNamespace, self.member, self.argument) = (path, below, member, argument)
        }

        /// Returns a rule for the property changes of an interface.
        public static func properties(_ interface: String, path: String? = nil, below: String? = nil) -> Signals {
            Signals(
                BusMember(BusService.properties, "PropertiesChanged"), path: path, below: below, argument: interface)
        }
    }

    /// The D-Bus properties interface.
    public static let properties = "org.freedesktop.DBus.Properties"

    /// Receives the values of an answer.
    public typealias ReplyHandler = @Sendable (Result<[ForeignValue], BusError>) -> Void

    /// The well-known name of the program.
    public let name: String
    private let bus: MessageBus
    private struct State {
        var owner: String?
        var onEvent: (@Sendable (Event) -> Void)?
    }
    private let state = Mutex(State())

    /// Creates the object without sending any message; see ``begin(hearing:onEvent:)``.
    public init(_ name: String, on bus: MessageBus) { (self.name, self.bus) = (name, bus) }

    /// Starts following the name. Call it once. The first event reports whether the program is
    /// running.
    ///
    /// - Parameter onEvent: Called for each event, until this object is released.
    public func begin(hearing signals: [Signals], onEvent: @escaping @Sendable (Event) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        for rule in signals { hear(rule) }
        bus.follow(self)
    }

    /// Stores the owner of the name.
    func setOwner(_ new: String?) {
        let (old, onEvent) = state.withLock { state in
            defer { state.owner = new }
            return (state.owner, state.onEvent)
        }
        bus.listen(to: new, insteadOf: old, self)
        onEvent?(new == nil ? .gone : .appeared)
    }

    /// Passes on a signal from the owner.
    func receive(_ signal: BusSignal) { state.withLock { $0.onEvent }?(.signal(signal)) }

    /// Calls the program. Fails with ``BusError/disconnected`` if it is not running.
    public func call(
        _ path: String, _ member: BusMember, _ arguments: [BusValue] = [], reply: @escaping ReplyHandler
    ) {
        guard let owner = state.withLock({ $0.owner }) else { return reply(.failure(.disconnected)) }
        bus.call(owner, path: path, member, arguments, reply: reply)
    }

    /// Requests the properties of an interface.
    public func properties(
        _ path: String, _ interface: String,
        reply: @escaping @Sendable (Result<[String: ForeignValue], BusError>) -> Void
    ) {
        call(path, BusMember(Self.properties, "GetAll"), [.string(interface)]) { result in
            reply(result.map { $0.first?.entries ?? [:] })
        }
    }

    /// Adds a rule for signals.
    public func hear(_ signals: Signals) { bus.addRule(rule(signals)) }

    /// Removes a rule for signals.
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
