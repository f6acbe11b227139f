// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Returns the two ends of a connected Unix stream socket, close-on-exec.
public func socketPair() throws -> (OwnedDescriptor, OwnedDescriptor) {
    var numbers: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw SocketPairError(code: errno) }
    return (OwnedDescriptor(adopting: numbers[0]), OwnedDescriptor(adopting: numbers[1]))
}

/// The error of socketpair(2), for example for a process without free descriptors.
struct SocketPairError: Error {
    let code: Int32
}
