// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why files cannot be watched or compared.
package enum FileWatchingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system refused an operation.
    case system(operation: String, code: Int32)
    /// The snapshot cannot be read or written.
    case snapshot(path: String, reason: String)
    /// The snapshot was damaged and was made again: everything differs, and nothing that was handed out can be acknowledged.
    case snapshotLost(path: String)

    /// One sentence: what was attempted and what happened.
    package var description: String {
        switch self {
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        case .snapshot(let path, let reason): "The snapshot of watched files \(path) cannot be used: \(reason)."
        case .snapshotLost(let path): "The snapshot of watched files \(path) was damaged. It was made again."
        }
    }
}
