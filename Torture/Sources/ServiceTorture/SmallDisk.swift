// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A tmpfs of a few megabytes for the store, which can be filled and made read-only. Without
/// permission to mount, it is a plain folder.
final class SmallDisk {
    private static let megabytes = 96
    private let place: TorturePlace
    let isMounted: Bool
    private(set) var isReadOnly = false

    init(_ place: TorturePlace) {
        self.place = place
        // Mounts only in a namespace of its own, since a mount elsewhere would outlive a killed
        // conductor.
        isMounted =
            getpid() == 1
            && Self.run("mount", "-t", "tmpfs", "-o", "size=\(Self.megabytes)m,mode=700", "none", place.disk)
    }

    private static func run(_ program: String, _ arguments: String...) -> Bool {
        (try? ChildProcess.run("/usr/bin/env", [program] + arguments).ending) == .exited(0)
    }

    /// Fills the disk until `room` bytes are free.
    func fill(leaving room: Int) {
        guard isMounted else { return }
        let number = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(number) }
        var status = statvfs()
        let page = [UInt8](repeating: 1, count: 4096)
        while number >= 0, statvfs(place.disk, &status) == 0,
            Int(status.f_bavail * status.f_frsize) >= room + page.count
        {
            guard write(number, page, page.count) > 0 else { break }
        }
    }

    func free() { unlink(ballast) }

    private var ballast: String { place.disk + "/ballast" }

    /// Makes the store read-only for files that are opened from now on.
    func forbidWriting() -> Bool {
        guard isMounted, !isReadOnly, Self.run("mount", "--bind", place.store, place.store) else { return false }
        isReadOnly = true
        return Self.run("mount", "-o", "remount,bind,ro", place.store)
    }

    func allowWriting() {
        guard isReadOnly else { return }
        // A lazy unmount: processes with open files keep the detached mount.
        _ = Self.run("umount", "-l", place.store)
        isReadOnly = false
    }
}
