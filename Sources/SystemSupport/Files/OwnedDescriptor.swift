// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file descriptor with one owner. The descriptor is closed when the last reference goes.
///
/// ```swift
/// let file = OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
/// ```
public final class OwnedDescriptor: Sendable {
    /// The descriptor's number, valid while this object lives.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(adopting number: Int32) { self.number = number }

    /// A second descriptor for the same open file; `nil`, with `errno` set, when the process has no descriptors left.
    public convenience init?(duplicating number: Int32) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        self.init(adopting: copy)
    }

    deinit { close(number) }
}
