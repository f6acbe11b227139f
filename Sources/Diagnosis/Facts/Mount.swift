// SPDX-License-Identifier: Apache-2.0

/// A line in the kernel's mount table (`/proc/self/mountinfo`, proc(5)).
package struct Mount: Hashable, Sendable {
    /// The mount point.
    var point: String
    /// The type of the file system, such as `ext4`.
    var kind: String
    /// The mounted source, such as a device.
    var source: String
    /// The device number, such as `8:1`.
    var device: String
    var isReadOnly: Bool

    /// The maximum size of the table, in bytes.
    static let maximumBytes = 1 << 20

    /// Returns the mount that contains a path without symbolic links: the last of the mounts with
    /// the longest mount point.
    static func of(_ path: String, in table: String) -> Mount? {
        var found: Mount?
        for line in table.split(separator: "\n") {
            guard let mount = Mount(line: line), mount.holds(path),
                mount.point.utf8.count >= found?.point.utf8.count ?? 0
            else { continue }
            found = mount
        }
        return found
    }

    private func holds(_ path: String) -> Bool {
        point == "/" || path == point || path.hasPrefix(point + "/")
    }

    /// Parses a line such as `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root
    /// rw,errors=continue`.
    init?(line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count >= 10, let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else {
            return nil
        }
        device = String(fields[2])
        point = Self.unescaped(fields[4])
        kind = String(fields[dash + 1])
        source = Self.unescaped(fields[dash + 2])
        isReadOnly = ([fields[5], fields[dash + 3]] as [Substring]).contains { $0.split(separator: ",").contains("ro") }
    }

    /// Returns the text with octal escapes such as `\040` replaced, which represent spaces, tabs,
    /// line ends and backslashes.
    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("\\") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
