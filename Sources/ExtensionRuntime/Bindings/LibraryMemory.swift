// SPDX-License-Identifier: Apache-2.0
import CFFI
import Glibc
import Synchronization

/// Counts the heap bytes that bound libraries have not freed: the bytes that their functions
/// allocate, minus the bytes that their functions free. Allocations by callbacks do not count,
/// because they are the worker's own.
///
/// Each measurement calls `mallinfo2`, which walks the free lists of all arenas. The counter is
/// therefore only active if `SEARCHLIGHT_COUNT_LIBRARY_MEMORY` is set in the environment. It
/// measures the whole process, so the count is only correct for requests that do not overlap.
final class LibraryMemory: Sendable {
    /// This process's counter; `nil` if it is not active.
    static let shared: LibraryMemory? = getenv("SEARCHLIGHT_COUNT_LIBRARY_MEMORY") == nil ? nil : LibraryMemory()

    /// The number of bytes that libraries have not freed. It is negative if a library frees memory
    /// that was allocated outside its counted calls.
    var kept: Int64 { count.load(ordering: .relaxed) }

    private let count = Atomic<Int64>(0)

    /// Runs a call to a library's function, and counts the bytes by which the heap grows.
    static func duringCall(_ body: () -> Void) {
        guard let shared else { return body() }
        settle()
        let before = cffi_heap_in_use()
        body()
        shared.count.add(cffi_heap_in_use() - before, ordering: .relaxed)
    }

    /// Runs the worker's own code inside a library's call, without counting its allocations.
    static func duringCallback<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let shared else { return try body() }
        let before = cffi_heap_in_use()
        defer { shared.count.subtract(cffi_heap_in_use() - before, ordering: .relaxed) }
        return try body()
    }

    /// Waits until the heap size is stable, for at most about 10 ms. Other threads may still be
    /// freeing the memory of the previous request.
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
