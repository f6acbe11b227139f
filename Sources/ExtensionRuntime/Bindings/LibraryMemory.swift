// SPDX-License-Identifier: Apache-2.0
import CFFI
import Glibc
import Synchronization

/// Counts what bound libraries keep of the heap: what is allocated while their functions run and not freed by one of these. What a
/// callback allocates meanwhile is the worker's own.
///
/// Nothing is counted unless the host asks for it by a variable of the environment, since each count looks through the heap. The count is
/// of the whole process, so it is right for requests that come one after the other.
final class LibraryMemory: Sendable {
    /// The count; `nil` if nothing is counted.
    static let shared: LibraryMemory? = getenv("SEARCHLIGHT_COUNT_LIBRARY_MEMORY") == nil ? nil : LibraryMemory()

    /// What is kept by now, in bytes. It may be negative: a library frees what was allocated before.
    var kept: Int64 { count.load(ordering: .relaxed) }

    private let count = Atomic<Int64>(0)

    /// Makes a call of a library's function.
    static func duringCall(_ body: () -> Void) {
        guard let shared else { return body() }
        settle()
        let before = cffi_heap_in_use()
        body()
        shared.count.add(cffi_heap_in_use() - before, ordering: .relaxed)
    }

    /// Does the worker's own work in a call of a library's function.
    static func duringCallback<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let shared else { return try body() }
        let before = cffi_heap_in_use()
        defer { shared.count.subtract(cffi_heap_in_use() - before, ordering: .relaxed) }
        return try body()
    }

    /// Waits until other threads have put away the request before, at most 20 ms.
    private static func settle() {
        var last = cffi_heap_in_use()
        for _ in 0..<20 {
            usleep(500)
            let now = cffi_heap_in_use()
            guard now != last else { return }
            last = now
        }
    }
}
