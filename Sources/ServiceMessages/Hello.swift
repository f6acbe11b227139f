// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The first call that a client makes: `com.searchlight.Session1.Hello`. Its values apply for the
/// lifetime of the connection.
public struct Hello: Sendable, Hashable {
    /// The role of a client.
    public enum Role: String, Sendable, CaseIterable {
        /// An app, which acts on behalf of one bundle.
        case app
        /// One of the user's programs that may access the whole index, such as the command or a
        /// launcher. It must not be sandboxed.
        case shell
    }
    /// The client's protocol version.
    public var version: UInt64
    /// The client's role.
    public var role: Role
    /// The bundle that the client claims to act for. For a sandboxed client, the service uses the
    /// bundle of the sandbox. `nil` for a shell, and for an app whose sandbox names its bundle.
    public var bundle: String?
    /// The name of the program, for logs and `searchlight status` only.
    public var program: String

    /// The current version of the protocol.
    public static let currentVersion: UInt64 = 2
    /// The method of the call.
    public static let member = BusMember("com.searchlight.Session1", "Hello")
    /// The maximum length of a program's name in bytes.
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

    /// Reads the arguments of a call.
    ///
    /// - Throws: ``BusError/malformed(_:)``; ``ServiceErrorName/unsupportedVersion`` before any
    ///   other argument is read, so that the other arguments may differ between versions.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        version = try arguments.unsigned()
        guard version == Self.currentVersion else {
            throw .remote(
                name: ServiceErrorName.unsupportedVersion,
                message: """
                    The client has version \(version) of the protocol, but the service has version \
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
    /// The version of the service, such as `0.1.0`.
    public var serviceVersion: String
    /// The bundle that the client acts for; `nil` for a shell.
    public var bundle: String?
    /// The process ID of the service.
    public var processIdentifier: UInt64

    /// Creates an answer.
    public init(serviceVersion: String, bundle: String?, processIdentifier: UInt64) {
        self.serviceVersion = serviceVersion
        self.bundle = bundle
        self.processIdentifier = processIdentifier
    }

    /// The arguments of the answer.
    public var arguments: [BusValue] {
        [.string(serviceVersion), .string(bundle ?? ""), .unsigned(processIdentifier)]
    }

    /// Reads an answer from its arguments.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        serviceVersion = try arguments.string()
        bundle = try arguments.string().nonEmpty
        processIdentifier = try arguments.unsigned()
        try arguments.finish()
    }
}
