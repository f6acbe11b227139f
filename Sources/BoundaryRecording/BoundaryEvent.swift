// SPDX-License-Identifier: Apache-2.0

/// An event at the boundary between the host and an extension, in the order in which the worker saw
/// it.
package enum BoundaryEvent: Sendable, Hashable {
    /// The host calls the extension.
    ///
    /// - Parameters:
    ///   - number: The number of the call in its session, starting at 1.
    ///   - cause: The number of the extension's call that passed the callback; 0 for none.
    case hostCall(number: UInt32, HostCallKind, cause: UInt32, [BoundaryValue])
    /// The extension returns from a call of the host.
    case hostReturn(number: UInt32, BoundaryValue)
    /// The extension calls the host.
    ///
    /// - Parameters:
    ///   - number: The number of the call in its session, starting at 1.
    ///   - within: The number of the host's call on the same thread; 0 if the extension calls from
    ///     its own thread.
    case extensionCall(number: UInt32, within: UInt32, BoundaryFunction, [BoundaryValue])
    /// The host returns from a call of the extension.
    case extensionReturn(number: UInt32, BoundaryValue)
    /// The host cancelled a request.
    case cancelled(request: UInt64)
    /// The recorder reached its limit; later events are missing.
    case truncated

    /// The encoded event, preceded by its length.
    package var encoded: [UInt8] {
        var body = BoundaryWriter()
        switch self {
        case .hostCall(let number, let kind, let cause, let arguments):
            body.byte(1)
            body.unsigned(UInt64(number))
            body.byte(kind.rawValue)
            body.unsigned(UInt64(cause))
            body.list(arguments)
        case .hostReturn(let number, let value):
            body.byte(2)
            body.unsigned(UInt64(number))
            body.value(value)
        case .extensionCall(let number, let within, let function, let arguments):
            body.byte(3)
            body.unsigned(UInt64(number))
            body.unsigned(UInt64(within))
            body.byte(function.number)
            body.list(arguments)
        case .extensionReturn(let number, let value):
            body.byte(4)
            body.unsigned(UInt64(number))
            body.value(value)
        case .cancelled(let request):
            body.byte(5)
            body.unsigned(request)
        case .truncated: body.byte(6)
        }
        var whole = BoundaryWriter()
        whole.block(body.bytes)
        return whole.bytes
    }

    init(_ reader: inout BoundaryReader) throws(RecordingError) {
        switch try reader.byte() {
        case 1:
            let number = try reader.number32()
            let raw = try reader.byte()
            guard let kind = HostCallKind(rawValue: raw) else {
                throw reader.error("there is no call of the host with the number \(raw)")
            }
            self = .hostCall(number: number, kind, cause: try reader.number32(), try reader.list())
        case 2: self = .hostReturn(number: try reader.number32(), try reader.value())
        case 3:
            let (number, within, raw) = (try reader.number32(), try reader.number32(), try reader.byte())
            guard let function = BoundaryInterface.function(raw) else {
                throw reader.error("there is no function with the number \(raw)")
            }
            self = .extensionCall(number: number, within: within, function, try reader.list())
        case 4: self = .extensionReturn(number: try reader.number32(), try reader.value())
        case 5: self = .cancelled(request: try reader.unsigned())
        case 6: self = .truncated
        case let tag: throw reader.error("there is no event of kind \(tag)")
        }
        guard reader.isAtEnd else { throw reader.error("an event is longer than its content") }
    }
}

/// The reason why a session's worker exited.
package enum SessionEnding: Sendable, Hashable {
    /// The host terminated the worker after the last request.
    case finished
    /// The host terminated the worker because a request failed.
    case endedByHost
    case exited(status: Int32)
    case signalled(Int32)

    /// `true` if the extension caused its worker to exit.
    package var isCrash: Bool {
        switch self {
        case .finished, .endedByHost: false
        case .exited, .signalled: true
        }
    }

    package var description: String {
        switch self {
        case .finished: "the host ended the worker after the last request"
        case .endedByHost: "the host ended the worker because a request failed"
        case .exited(let status): "the worker exited with status \(status)"
        case .signalled(let signal): "signal \(signal) ended the worker"
        }
    }
}
