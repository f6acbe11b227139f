// SPDX-License-Identifier: Apache-2.0

/// The rules for names (D-Bus specification, Valid Names), over bytes that need not be text.
enum BusName {
    /// The most bytes of a name; paths have no such limit.
    private static let maximum = 255

    /// `/` or parts of letters, digits and `_` with slashes before.
    static func isPath(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        if path.count == 1 { return true }
        return path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(isNameByte)
        }
    }

    /// Two or more member names with dots between. The names of errors follow the same rules.
    static func isInterface(_ name: ArraySlice<UInt8>) -> Bool {
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.count <= maximum && parts.count >= 2 && parts.allSatisfy(isMember)
    }

    /// Letters, digits and `_`, and no digit first.
    static func isMember(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, name.count <= maximum, !isDigit(first) else { return false }
        return name.allSatisfy(isNameByte)
    }

    /// A name on a message bus: `:` and a unique name, or as an interface, with `-` allowed.
    static func isBusName(_ name: ArraySlice<UInt8>) -> Bool {
        let isUnique = name.first == UInt8(ascii: ":")
        let parts = (isUnique ? name.dropFirst() : name)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.count <= maximum && parts.count >= 2
            && parts.allSatisfy { part in
                guard let first = part.first, isUnique || !isDigit(first) else { return false }
                return part.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "-") }
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || byte == UInt8(ascii: "_")
    }
}
