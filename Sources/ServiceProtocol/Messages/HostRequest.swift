// SPDX-License-Identifier: Apache-2.0

/// What a worker asks of its host. Each case is one method of the interface `com.searchlight.Host1`. The connection
/// says which bundle asks; no argument does.
public enum HostRequest: Sendable, Hashable {
    /// Add or replace the items of a batch (``RecordBatch``) in an index; `nil` is the default index.
    case indexRecords(index: String?, batch: [UInt8])
    /// Delete items by identifier.
    case deleteItems(index: String?, identifiers: [String])
    /// Delete domains and all below them.
    case deleteDomains(index: String?, domains: [String])
    /// Delete everything in the index.
    case deleteAll(index: String?)
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
        let name =
            switch self {
            case .indexRecords: "IndexRecords"
            case .deleteItems: "DeleteItems"
            case .deleteDomains: "DeleteDomains"
            case .deleteAll: "DeleteAll"
            case .log: "Log"
            }
        return BusMember(Self.interface, name)
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .indexRecords(let index, let batch): [.string(index ?? ""), .bytes(batch)]
        case .deleteItems(let index, let identifiers): [.string(index ?? ""), .strings(identifiers)]
        case .deleteDomains(let index, let domains): [.string(index ?? ""), .strings(domains)]
        case .deleteAll(let index): [.string(index ?? "")]
        case .log(let level, let message): [.unsigned(level.rawValue), .string(message)]
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch (call.member.interface, call.member.member) {
        case (Self.interface, "IndexRecords"):
            self = .indexRecords(index: try arguments.string().nonEmpty, batch: try arguments.bytes())
        case (Self.interface, "DeleteItems"):
            self = .deleteItems(index: try arguments.string().nonEmpty, identifiers: try arguments.strings())
        case (Self.interface, "DeleteDomains"):
            self = .deleteDomains(index: try arguments.string().nonEmpty, domains: try arguments.strings())
        case (Self.interface, "DeleteAll"): self = .deleteAll(index: try arguments.string().nonEmpty)
        case (Self.interface, "Log"):
            let level = LogLevel(rawValue: try arguments.unsigned()) ?? .info
            self = .log(level: level, message: try arguments.string())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
