// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Detects whether the machine has more runnable threads than processors, so that some threads have
/// to wait. The calling thread is counted as runnable. Threads that wait because of processor
/// affinity or a CPU quota are not detected.
///
/// A check takes a few microseconds and can run on any thread. If `/proc/loadavg` cannot be read,
/// the result is `true`.
package final class ProcessorContention: Sendable {
    /// A descriptor of `/proc/loadavg`; -1 if it cannot be opened.
    private let descriptor: Int32
    private let processors: Int

    /// - Parameter path: A file in the format of `/proc/loadavg` (proc(5)), whose fourth word is
    ///   `runnable/all`, counted in threads.
    package init(path: String = "/proc/loadavg", processors: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.processors = processors
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// `true` if threads are currently waiting for a processor.
    package var isPresent: Bool {
        guard let runnable else { return true }
        return runnable > processors
    }

    private var runnable: Int? {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer -> Int? in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            let words = buffer[..<count].split(separator: UInt8(ascii: " "))
            guard words.count > 3 else { return nil }
            return Int(String(decoding: words[3].prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self))
        }
    }
}
