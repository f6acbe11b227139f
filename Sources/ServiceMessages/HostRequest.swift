// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from a worker to its host: the requests that every donor can make (``IndexRequest``),
/// and reports as methods of the interface `com.searchlight.Host1`. The bundle is taken from the
/// connection, never from an argument.
public enum HostRequest: Sendable, Hashable {
    /// A change to the index, or a query.
    case index(IndexRequest)
    /// A log message for the extension's developer; has no answer.
    case log(level: LogLevel, message: String)
    /// The progress of a call made by the host, which is identified by its serial number:
    /// `completed` of `total` units; `total` is 0 if unknown. Has no answer.
    case progress(call: UInt64, completed: UInt64, total: UInt64)
    /// The extension violated a rule of `searchlight_extension.h`, without consequences. Has no
    /// answer.
    case misuse(Misuse, message: String)
    /// The number of heap bytes held by the bound libraries, as counted so far. Sent only if the
    /// host requested it. Has no answer.
    case libraryMemory(kept: Int64)
    /// Reports content that is left out of the index. Has no answer.
    case leftOut(LeftOut)
    /// The number of streams that the extension fills, whose requests are answered. Has no answer.
    case openStreams(UInt64)

    /// The rules whose violations are detected.
    public enum Misuse: String, Sendable, Codable, CaseIterable {
        /// A request was answered more than once, or after it had ended.
        case answeredTwice
        /// A request was answered with an answer of the wrong kind.
        case wrongAnswer
        /// A text is not UTF-8.
        case malformedText
        /// An argument is NULL, or a length or size is out of range.
        case invalidArgument
        /// A function was called on the wrong thread, or by two threads at the same time.
        case wrongThread
        /// An object of the host was used after it was released.
        case usedAfterRelease
    }

    /// The severity of an extension's log message.
    public enum LogLevel: UInt64, Sendable, Codable {
        /// Information.
        case info = 1
        /// Some content was left out.
        case warning = 2
        /// An operation failed.
        case error = 3
    }

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Host1"

    private enum Method: String {
        case log = "Log"
        case progress = "Progress"
        case misuse = "Misuse"
        case libraryMemory = "LibraryMemory"
        case leftOut = "LeftOut"
        case openStreams = "OpenStreams"

        var member: BusMember { BusMember(HostRequest.interface, rawValue) }
    }

    /// The method of the request.
    public var member: BusMember { if case .index(let request) = self { request.member } else { call.member } }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (member: BusMember, arguments: [BusValue]) {
        switch self {
        case .index(let request): (request.member, request.arguments)
        case .log(let level, let message):
            (Method.log.member, [.unsigned(level.rawValue), .string(text: message)])
        case .progress(let call, let completed, let total):
            (Method.progress.member, [.unsigned(call), .unsigned(completed), .unsigned(total)])
        case .misuse(let rule, let message):
            (Method.misuse.member, [.string(rule.rawValue), .string(text: message)])
        case .libraryMemory(let kept): (Method.libraryMemory.member, [.unsigned(UInt64(bitPattern: kept))])
        case .leftOut(let what):
            (Method.leftOut.member, [.string(what.name), .string(text: what.reason)])
        case .openStreams(let count): (Method.openStreams.member, [.unsigned(count)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
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
                throw .malformed("a misuse of an unknown rule is reported")
            }
            self = .misuse(rule, message: try arguments.string())
        case .libraryMemory: self = .libraryMemory(kept: Int64(bitPattern: try arguments.unsigned()))
        case .leftOut: self = .leftOut(LeftOut(name: try arguments.string(), reason: try arguments.string()))
        case .openStreams: self = .openStreams(try arguments.unsigned())
        case nil: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
