// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// Whether a process holds locks on files that others may wait for.
///
/// Each descriptor's own page of `/proc` is looked at, not `/proc/locks`: that names no process for locks of open file
/// descriptions (`F_OFD_SETLK`), and no path.
enum HeldLocks {
    /// The most descriptors that are looked at; a confined worker has at most 1,024.
    private static let maximumDescriptors = 4096

    /// Looks; exact if the process stands still. Its number must still be its own.
    ///
    /// - Parameter folder: Where nobody else locks anything: its temporary folder.
    /// - Returns: `true` also where that cannot be seen.
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

    /// Locks come before what makes some of these pages long, and one is enough.
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
