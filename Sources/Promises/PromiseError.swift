// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a promise was not delivered.
public enum PromiseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The item offers nothing that conforms to what is accepted.
    case unsupportedType(offered: [String], accepted: [String])
    /// Reading from the provider or writing to the receiver failed.
    case inputOutput(operation: String, path: String, code: Int32)
    /// The provider gave more or fewer bytes than it said.
    case wrongLength(expected: UInt64, received: UInt64)
    /// The provider stopped giving bytes before the end.
    case stalled(path: String, received: UInt64)
    /// The provider gave more than can be taken.
    case tooLarge(length: UInt64, limit: UInt64)

    /// The error: what was attempted, what happened, what to do.
    public var description: String {
        switch self {
        case .unsupportedType(let offered, let accepted):
            offered.isEmpty
                ? "The item promises no representation at all."
                : """
                The item offers \(offered.joined(separator: ", ")), and none of these conforms to \
                \(accepted.joined(separator: ", ")).
                """
        case .inputOutput(let operation, let path, let code):
            "\(operation) \(path) failed: \(String(cString: strerror(code)))."
        case .wrongLength(let expected, let received):
            "The provider announced \(expected) bytes and gave \(received); nothing was written."
        case .stalled(let path, let received):
            "The provider gave \(received) bytes for \(path) and then nothing more for 10 seconds; nothing was written."
        case .tooLarge(let length, let limit): "The provider gave \(length) bytes; the limit is \(limit)."
        }
    }
}
