// SPDX-License-Identifier: Apache-2.0

/// What a worker asks of its host: what every donor may (``IndexRequest``), and to write something down, the one method of
/// the interface `com.searchlight.Host1`. The connection says which bundle asks; no argument does.
public enum HostRequest: Sendable, Hashable {
    /// A change of the index, or a question about it.
    case index(IndexRequest)
    /// Something to tell the person who looks after the extension; has no answer.
    case log(level: LogLevel, message: String)

    /// How grave a message of an extension is.
    public enum LogLevel: UInt64, Sendable, Codable {
        /// Good to know.
        case info = 1
        /// Something was left out.
        case warning = 2
        /// Something failed.
        case error = 3
    }

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Host1"

    /// The method that carries the request.
    public var member: BusMember {
        switch self {
        case .index(let request): request.member
        case .log: BusMember(Self.interface, "Log")
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .index(let request): request.arguments
        case .log(let level, let message): [.unsigned(level.rawValue), .string(message)]
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        guard call.member == BusMember(Self.interface, "Log") else {
            self = .index(try IndexRequest(call))
            return
        }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        let level = LogLevel(rawValue: try arguments.unsigned()) ?? .info
        self = .log(level: level, message: try arguments.string())
        try arguments.finish()
    }
}
