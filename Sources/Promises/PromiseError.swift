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
        }
    }
}
