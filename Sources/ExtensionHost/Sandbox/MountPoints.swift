// SPDX-License-Identifier: Apache-2.0

/// What is mounted where, to find folders that are shown in a second place (bind mounts): their names say nothing of what
/// they are.
package struct MountPoints: Hashable, Sendable {
    private struct Mount: Hashable {
        var device: Substring
        /// What of the file system is shown, and where.
        var root: String
        var point: String
    }
    private let mounts: [Mount]

    private static let maximumBytes = 1 << 20

    /// Reads the form of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    package init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6 else { return nil }
            return Mount(device: fields[2], root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]))
        }
    }

    /// What this process sees mounted now.
    static func current() -> MountPoints {
        MountPoints(SmallFile.text(at: "/proc/self/mountinfo", limit: maximumBytes) ?? "")
    }

    /// Where else a folder is that is mounted at, above or below a path; `nil` if there is no such mount.
    ///
    /// A file system that is mounted once is a disk. A part of one that is reached by another mount too is shown twice.
    ///
    /// - Parameters:
    ///   - path: Without links.
    ///   - folder: Mounts above it do not count, and one at it only where the home folder is shown.
    ///   - home: The home folder, without links.
    package func source(of path: String, below folder: String, home: String) -> String? {
        for mount in mounts where lies(mount.point, in: folder) {
            guard lies(mount.point, in: path) || lies(path, in: mount.point) else { continue }
            for other in mounts where other.device == mount.device && other.point != mount.point {
                guard let source = Self.place(of: mount, by: other) else { continue }
                if mount.point == folder, !lies(source, in: home), !lies(home, in: source) { continue }
                return source
            }
        }
        return nil
    }

    /// Where another mount of the same file system shows what a mount shows, or a part of it.
    private static func place(of mount: Mount, by other: Mount) -> String? {
        if lies(mount.root, in: other.root) {
            let rest = other.root == "/" ? mount.root : String(mount.root.dropFirst(other.root.count))
            return rest == "/" || rest.isEmpty ? other.point : (other.point == "/" ? "" : other.point) + rest
        }
        return lies(other.root, in: mount.root) ? other.point : nil
    }

    /// `\040` and the like are bytes.
    private static func unescaped(_ field: Substring) -> String {
        guard field.utf8.contains(UInt8(ascii: "\\")) else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            guard byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) })
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
