// SPDX-License-Identifier: Apache-2.0

/// The mount table. It is used to detect folders that are also visible at another path (bind
/// mounts), whose path therefore does not identify their content.
package struct MountPoints: Hashable, Sendable {
    private struct Mount: Hashable {
        var device: Substring
        /// The mounted root within the file system, and the mount point.
        var root: String
        var point: String
    }
    private let mounts: [Mount]
    /// For each file system, the indices of its mounts.
    private let places: [Substring: [Int]]

    private static let usualBytes = 64 << 10
    private static let maximumBytes = 4 << 20

    /// Parses text in `/proc/self/mountinfo` format (proc_pid_mountinfo(5)).
    package init(_ text: String) {
        let mounts = text.split(separator: "\n").compactMap { line -> Mount? in
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6 else { return nil }
            return Mount(device: fields[2], root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]))
        }
        self.mounts = mounts
        places = Dictionary(grouping: mounts.indices) { mounts[$0].device }
    }

    /// Returns this process's current mounts; `nil` if they cannot be read or exceed 4 MiB.
    ///
    /// - Parameter path: The path of the table. Invalid UTF-8 in it is replaced.
    package static func current(_ path: String = "/proc/self/mountinfo") -> MountPoints? {
        // Reads with a limit that is sufficient for most systems first.
        guard
            let bytes = (try? BoundedFile.regular(path, limit: usualBytes))
                ?? (try? BoundedFile.regular(path, limit: maximumBytes))
        else { return nil }
        let mounts = MountPoints(String(decoding: bytes, as: UTF8.self))
        // There is always a root mount.
        return mounts.mounts.isEmpty ? nil : mounts
    }

    /// Returns the mount points at which a different file system is mounted than before.
    package func changedPoints(since earlier: MountPoints) -> Set<String> {
        Set(Set(mounts).symmetricDifference(earlier.mounts).map(\.point))
    }

    /// Returns the other path of a folder that is mounted at, above or below a path; `nil` if there
    /// is no such mount.
    ///
    /// A file system with a single mount is a disk. If another mount shows the same part of a file
    /// system, it is a bind mount.
    ///
    /// - Parameters:
    ///   - path: A path without symbolic links.
    ///   - folder: Mounts above this folder are ignored. A mount at this folder is considered only
    ///     if it shows the home folder.
    ///   - home: The home folder, without symbolic links.
    package func source(of path: String, below folder: String, home: String) -> String? {
        for mount in mounts where lies(mount.point, in: folder) {
            guard lies(mount.point, in: path) || lies(path, in: mount.point) else { continue }
            for other in (places[mount.device] ?? []).lazy.map({ mounts[$0] }) where other.point != mount.point {
                guard let source = Self.place(of: mount, by: other) else { continue }
                if mount.point == folder, !lies(source, in: home), !lies(home, in: source) { continue }
                return source
            }
        }
        return nil
    }

    /// Returns the path at which another mount of the same file system shows all or part of a
    /// mount's content.
    private static func place(of mount: Mount, by other: Mount) -> String? {
        if lies(mount.root, in: other.root) {
            let rest = other.root == "/" ? mount.root : String(mount.root.dropFirst(other.root.count))
            return rest == "/" || rest.isEmpty ? other.point : (other.point == "/" ? "" : other.point) + rest
        }
        return lies(other.root, in: mount.root) ? other.point : nil
    }

    /// Returns the text with octal escapes such as `\040` replaced with their bytes.
    package static func unescaped(_ field: Substring) -> String {
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
