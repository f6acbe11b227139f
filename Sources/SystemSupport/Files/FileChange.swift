// SPDX-License-Identifier: Apache-2.0

/// A file change for which an extension must update its items.
public enum FileChange: Hashable, Sendable {
    /// The file is new, or its content or permissions changed.
    case changed(path: String)
    /// The file was moved; its content may have changed too.
    case moved(from: String, to: String)
    /// The file was removed.
    case removed(path: String)

    /// The paths involved in the change.
    public var paths: [String] {
        switch self {
        case .changed(let path), .removed(let path): [path]
        case .moved(let old, let new): [old, new]
        }
    }
}
