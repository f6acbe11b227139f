// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file descriptor with a single owner. It is closed when the last reference is released.
///
/// ```swift
/// let file = OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
/// ```
public final class OwnedDescriptor: Sendable {
    /// The number of the descriptor, valid as long as this object exists.
    public let number: Int32

    /// Takes ownership of an open descriptor.
    public init(adopting number: Int32) { self.number = number }

    /// Duplicates a descriptor; `nil`, with `errno` set, if the process has no descriptors left.
    public convenience init?(duplicating number: Int32) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        self.init(adopting: copy)
    }

    deinit { close(number) }
}
