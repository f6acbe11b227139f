// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What a worker asks of its host: what every donor may (``IndexRequest``), and to say how it goes, in the methods of
/// the interface `com.searchlight.Host1`. The connection says which bundle asks; no argument does.
public enum HostRequest: Sendable, Hashable {
    /// A change of the index, or a question about it.
    case index(IndexRequest)
    /// Something to tell the person who looks after the extension; has no answer.
    case log(level: LogLevel, message: String)
    /// How far the extension has come with a call of the host's, named by its serial number: `completed` of `total` units of
    /// its choice; `total` is 0 if it is not known. Has no answer.
    case progress(call: UInt64, completed: UInt64, total: UInt64)
    /// The extension broke a rule of `searchlight_extension.h`, and it was made harmless. Has no answer.
    case misuse(Misuse, message: String)
    /// How many bytes of the heap the libraries of bindings keep, as counted so far; only where the host asked for that. Has no answer.
    case libraryMemory(kept: Int64)

    /// The rules that an extension can be seen to break.
    public enum Misuse: String, Sendable, Codable, CaseIterable {
        /// A request was answered more than once, or after its end.
        case answeredTwice
        /// A request was answered with a kind of answer that was not asked for.
        case wrongAnswer
        /// Text that is not UTF-8.
        case malformedText
        /// NULL, a length or a size that is not allowed.
        case invalidArgument
        /// Something was called on a thread on which it must not be, or by two threads at once.
        case wrongThread
        /// An object of the host's was used after it was released.
        case usedAfterRelease
    }

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

    private enum Method: String {
        case log = "Log"
        case progress = "Progress"
        case misuse = "Misuse"
        case libraryMemory = "LibraryMemory"

        var member: BusMember { BusMember(HostRequest.interface, rawValue) }
    }

    /// The method that carries the request.
    public var member: BusMember { if case .index(let request) = self { request.member } else { call.member } }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (member: BusMember, arguments: [BusValue]) {
        switch self {
        case .index(let request): (request.member, request.arguments)
        case .log(let level, let message):
            (Method.log.member, [.unsigned(level.rawValue), .string(message)])
        case .progress(let call, let completed, let total):
            (Method.progress.member, [.unsigned(call), .unsigned(completed), .unsigned(total)])
        case .misuse(let rule, let message):
            (Method.misuse.member, [.string(rule.rawValue), .string(message)])
        case .libraryMemory(let kept): (Method.libraryMemory.member, [.unsigned(UInt64(bitPattern: kept))])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        guard call.member.interface == Self.interface else {
            self = .index(try IndexRequest(call))
            return
        }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch Method(rawValue: call.member.member) {
        case .log:
            let level = LogLevel(rawValue: try arguments.unsigned()) ?? .info
            self = .log(level: level, message: try arguments.string())
        case .progress:
            self = .progress(
                call: try arguments.unsigned(), completed: try arguments.unsigned(), total: try arguments.unsigned())
        case .misuse:
            guard let rule = Misuse(rawValue: try arguments.string()) else {
                throw .malformed("a misuse of no known rule is reported")
            }
            self = .misuse(rule, message: try arguments.string())
        case .libraryMemory: self = .libraryMemory(kept: Int64(bitPattern: try arguments.unsigned()))
        case nil: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
