// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from one of the user's programs that may access the whole index: a call to an engine.
/// The engine's own module defines the names and fields of these calls, and answers them.
public enum AdminRequest: ClientRequest {
    /// Makes a call to the engine: its name, a number chosen by the client, and its fields
    /// (`sta{sv}`). Answer: `a{sv}` with `answer` or `error`.
    case perform(call: String, number: UInt64, fields: BusValue)
    /// Cancels a call by its number (`t`).
    case cancel(number: UInt64)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Engine2"
    /// The clients that may make these calls, which can access the whole index.
    public static let callers: Set<Caller> = [.shell]

    /// The method that makes a call.
    public static let performMember = BusMember(interface, "Perform")
    /// The method that cancels a call.
    public static let cancelMember = BusMember(interface, "Cancel")
    /// The method that the service calls to report the progress of a call: the call's number and
    /// the events (`a{sv}`). The service sends the next report only after the reply.
    public static let eventMember = BusMember(interface, "Event")

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch call.member {
        case Self.performMember:
            self = .perform(
                call: try arguments.string(), number: try arguments.unsigned(),
                fields: .dictionary(try arguments.dictionary()))
        case Self.cancelMember: self = .cancel(number: try arguments.unsigned())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
