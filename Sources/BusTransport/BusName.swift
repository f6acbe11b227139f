// SPDX-License-Identifier: Apache-2.0

/// The rules for names (D-Bus specification, Valid Names), applied to bytes.
enum BusName {
    /// The maximum length of a name in bytes; paths have no such limit.
    private static let maximum = 255

    /// Returns `true` for `/`, or for elements of letters, digits and `_` that are each preceded by
    /// a slash.
    static func isPath(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return false }
        if path.count == 1 { return true }
        return path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy(isNameByte)
        }
    }

    /// Returns `true` for two or more member names separated by dots. Error names follow the same
    /// rules.
    static func isInterface(_ name: ArraySlice<UInt8>) -> Bool {
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.count <= maximum && parts.count >= 2 && parts.allSatisfy(isMember)
    }

    /// Returns `true` for letters, digits and `_` that do not start with a digit.
    static func isMember(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, name.count <= maximum, !isDigit(first) else { return false }
        return name.allSatisfy(isNameByte)
    }

    /// Returns `true` for a name on a message bus: `:` and a unique name, or a well-known name,
    /// which is like an interface name but may contain `-`.
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
