// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The first call of a client: `com.searchlight.Session1.Hello`. What it fixes holds for the life of the connection.
public struct Hello: Sendable, Hashable {
    /// What a client is.
    public enum Role: String, Sendable, CaseIterable {
        /// An app: acts for one bundle, its own.
        case app
        /// A program of the user's that sees the whole index: the command, a launcher. Never a sandboxed one.
        case shell
    }
    /// The version of the protocol the client speaks.
    public var version: UInt64
    /// What the client is.
    public var role: Role
    /// The bundle the client acts for, as it says; the service takes a sandboxed client's from its sandbox. `nil` for a
    /// shell, and for an app that leaves it to its sandbox.
    public var bundle: String?
    /// The name of the program, for logs and `searchlight status`; nobody relies on it.
    public var program: String

    /// The version of the protocol.
    public static let currentVersion: UInt64 = 2
    /// The method that carries it.
    public static let member = BusMember("com.searchlight.Session1", "Hello")
    /// The longest name of a program, in bytes.
    public static let maximumProgramBytes = 255

    /// Creates the first call of a client.
    public init(role: Role, bundle: String?, program: String, version: UInt64 = currentVersion) {
        self.version = version
        self.role = role
        self.bundle = bundle
        self.program = program
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        [.unsigned(version), .string(role.rawValue), .string(bundle ?? ""), .string(program)]
    }

    /// Reads it from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)``; ``ServiceErrorName/unsupportedVersion`` before anything else is read, so that
    ///   versions may differ in all but that.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        version = try arguments.unsigned()
        guard version == Self.currentVersion else {
            throw .remote(
                name: ServiceErrorName.unsupportedVersion,
                message: """
                    The client speaks version \(version) of the protocol and the service version \
                    \(Self.currentVersion). Install both from the same release, and restart searchlightd.
                    """)
        }
        let name = try arguments.string()
        guard let role = Role(rawValue: name) else { throw .malformed("there is no role \(name.debugDescription)") }
        self.role = role
        bundle = try arguments.string().nonEmpty
        program = try arguments.string()
        guard program.utf8.count <= Self.maximumProgramBytes else {
            throw .malformed("the name of the program has more than \(Self.maximumProgramBytes) bytes")
        }
        try arguments.finish()
    }
}

/// The answer to ``Hello``.
public struct Welcome: Sendable, Hashable {
    /// The version of the service, e.g. `0.1.0`.
    public var serviceVersion: String
    /// The bundle the client acts for from now on; `nil` for a shell.
    public var bundle: String?
    /// The process of the service.
    public var processIdentifier: UInt64

    /// Creates an answer.
    public init(serviceVersion: String, bundle: String?, processIdentifier: UInt64) {
        self.serviceVersion = serviceVersion
        self.bundle = bundle
        self.processIdentifier = processIdentifier
    }

    /// The arguments that carry it.
    public var arguments: [BusValue] {
        [.string(serviceVersion), .string(bundle ?? ""), .unsigned(processIdentifier)]
    }

    /// Reads it from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        serviceVersion = try arguments.string()
        bundle = try arguments.string().nonEmpty
        processIdentifier = try arguments.unsigned()
        try arguments.finish()
    }
}
