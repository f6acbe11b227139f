// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether more threads of the machine can run than there are processors, so that some wait. This process's own count like
/// anybody's. Threads that wait because they may use only some of the processors, or only for some of the time, are not seen.
///
/// A look takes some microseconds. Where it is not told, as if some waited.
final class ProcessorContention: Sendable {
    /// Of `/proc/loadavg`; -1 where it cannot be opened.
    private let descriptor: Int32
    private let processors: Int

    /// - Parameter path: What has the form of `/proc/loadavg` (proc(5)): the fourth word is `runnable/all`, of threads.
    init(path: String = "/proc/loadavg", processors: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.processors = processors
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether some wait at this moment. Whoever looks is one of those that can run.
    var isPresent: Bool {
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
