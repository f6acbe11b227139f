// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A file system of some megabytes for the store, which can be filled and made read-only; the folder as it is where nothing
/// can be mounted.
final class SmallDisk {
    private static let megabytes = 96
    private let place: TorturePlace
    let isMounted: Bool
    private(set) var isReadOnly = false
    private(set) var isFull = false

    init(_ place: TorturePlace) {
        self.place = place
        // Only in a namespace of its own: elsewhere it would outlive a conductor that is killed.
        isMounted =
            getpid() == 1
            && Self.run("mount", "-t", "tmpfs", "-o", "size=\(Self.megabytes)m,mode=700", "none", place.disk)
    }

    private static func run(_ program: String, _ arguments: String...) -> Bool {
        (try? ChildProcess.run("/usr/bin/env", [program] + arguments).ending) == .exited(0)
    }

    /// Whether what writes may be refused.
    var isTroubled: Bool { isReadOnly || isFull }

    /// Leaves so many bytes free.
    func fill(leaving room: Int) {
        guard isMounted else { return }
        isFull = true
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

    func free() {
        unlink(ballast)
        isFull = false
    }

    private var ballast: String { place.disk + "/ballast" }

    /// Has everything that is opened from now on in the store be refused if it is to be written.
    func forbidWriting() -> Bool {
        guard isMounted, !isReadOnly, Self.run("mount", "--bind", place.store, place.store) else { return false }
        isReadOnly = true
        return Self.run("mount", "-o", "remount,bind,ro", place.store)
    }

    func allowWriting() {
        guard isReadOnly else { return }
        // Whoever has files of it open keeps it, out of sight.
        _ = Self.run("umount", "-l", place.store)
        isReadOnly = false
    }
}
