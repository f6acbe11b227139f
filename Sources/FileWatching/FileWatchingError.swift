// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An error that occurred while watching or comparing files.
package enum FileWatchingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A system call failed.
    case system(operation: String, code: Int32)
    /// The snapshot cannot be read or written.
    case snapshot(path: String, reason: String)
    /// The snapshot was damaged and has been created again. Every file differs, and no earlier
    /// change can be acknowledged.
    case snapshotLost(path: String)

    /// One sentence: the attempted operation and its failure.
    package var description: String {
        switch self {
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        case .snapshot(let path, let reason):
            """
            The snapshot of watched files \(path) cannot be used: \(reason). Check its permissions and the free disk space.
            """
        case .snapshotLost(let path): "The snapshot of watched files \(path) was damaged. It was rebuilt."
        }
    }
}
