// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why a connection ended.
public enum BusEnd: Error, Hashable, Sendable, CustomStringConvertible {
    /// This side closed the connection.
    case closed
    /// The peer closed the connection or died.
    case peerClosed
    /// The peer exceeded a limit; the text names it.
    case violated(String)
    /// The peer sent malformed D-Bus data; the text describes it.
    case malformed(String)
    /// A system call failed.
    case system(operation: String, code: Int32)

    /// The reason in one sentence, for a log.
    public var description: String {
        switch self {
        case .closed: "The connection was closed."
        case .peerClosed: "The other process closed the connection."
        case .violated(let limit): "The connection was ended because the other process exceeded a limit: \(limit)."
        case .malformed(let detail):
            "The connection was ended because the other process does not speak D-Bus: \(detail)."
        case .system(let operation, let code):
            "The connection ended because \(operation) failed: \(String(cString: strerror(code)))."
        }
    }

    /// Creates the reason for an error code from sd-bus during reading or writing.
    init(processing code: Int32) {
        switch code {
        case ECONNRESET, ENOTCONN, EPIPE, ESHUTDOWN, ECONNABORTED: self = .peerClosed
        case EBADMSG, EPROTO, EPERM, EACCES, EIO, EINVAL: self = .malformed("sd-bus rejected its data")
        case ETIMEDOUT: self = .violated("the authentication took too long")
        default: self = .system(operation: "reading or writing messages", code: code)
        }
    }

    init(_ error: BusError) {
        switch error {
        case .system(let operation, let code): self = .system(operation: operation, code: code)
        case .disconnected, .cancelled: self = .peerClosed
        case .remote(_, let message): self = .malformed(message)
        case .malformed(let detail): self = .malformed(detail)
        }
    }
}
