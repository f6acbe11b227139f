// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The address of the user's session bus, according to the environment.
package enum SessionBusAddress {
    /// Returns the address in `$DBUS_SESSION_BUS_ADDRESS`, or else the address of the socket `bus`
    /// in `$XDG_RUNTIME_DIR`, as D-Bus libraries do; `nil` if there is no bus.
    package static func find(in environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        let path = folder + "/bus"
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return "unix:path=" + escaped(path)
    }

    /// Escapes a value of an address with percent signs, as the D-Bus specification requires.
    private static func escaped(_ path: String) -> String {
        let hex = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "\\"):
                bytes.append(byte)
            default: bytes += [0x25, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
