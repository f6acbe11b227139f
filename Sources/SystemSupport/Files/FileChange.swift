// SPDX-License-Identifier: Apache-2.0

/// A change of a file for which an extension has to update its items.
public enum FileChange: Hashable, Sendable {
    /// The file at this path is new, or its content or rights are others.
    case changed(path: String)
    /// The file has another path; it may be changed too.
    case moved(from: String, to: String)
    /// There is no file at this path any more.
    case removed(path: String)

    /// The paths that the change names.
    public var paths: [String] {
        switch self {
        case .changed(let path), .removed(let path): [path]
        case .moved(let old, let new): [old, new]
        }
    }
}
