// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tells whether more threads are runnable on the machine than it has processors, so that some wait for one. The calling
/// thread counts. A thread that is bound to some of the processors, or that a control group holds back, is not seen.
///
/// A reading takes some microseconds. Where `/proc/loadavg` cannot be read, the machine counts as contended. Any thread.
package final class ProcessorContention: Sendable {
    /// Of `/proc/loadavg`; -1 where it cannot be opened.
    private let descriptor: Int32
    private let processors: Int

    /// - Parameter path: What has the form of `/proc/loadavg` (proc(5)): the fourth word is `runnable/all`, of threads.
    package init(path: String = "/proc/loadavg", processors: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.processors = processors
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// `true` if threads wait for a processor at this moment.
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
