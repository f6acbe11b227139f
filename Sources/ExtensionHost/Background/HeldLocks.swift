// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// A check for file locks that a process holds and that other processes may wait for.
///
/// The check reads `/proc/PID/fdinfo` for each descriptor. `/proc/locks` is not enough: it names
/// neither the process of an open-file-description lock (`F_OFD_SETLK`) nor a path.
enum HeldLocks {
    /// The maximum number of descriptors to check. A confined worker has at most 1,024.
    private static let maximumDescriptors = 4096

    /// Returns `true` if the process holds a lock. The answer is exact if the process is stopped.
    /// The process must not be reaped yet, so that the kernel cannot reuse its number.
    ///
    /// - Parameter folder: The worker's temporary folder. Locks in it are ignored, because no other
    ///   process uses it.
    /// - Returns: `true` also if the locks cannot be determined.
    static func exist(in process: pid_t, besidesIn folder: String?) -> Bool {
        let path = "/proc/\(process)/fdinfo"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
            names.count <= maximumDescriptors
        else { return true }
        return names.contains { name in
            guard isLocked(path + "/" + name) else { return false }
            guard let folder, let file = AttemptedFile.link("/proc/\(process)/fd/\(name)") else { return true }
            return !lies(file, in: folder)
        }
    }

    /// Reads only the start of the page. `lock:` lines come before the lines that can make a page
    /// long.
    private static func isLocked(_ page: String) -> Bool {
        let descriptor = open(page, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return false }
        return String(decoding: bytes[..<count], as: UTF8.self).contains("\nlock:")
    }
}
