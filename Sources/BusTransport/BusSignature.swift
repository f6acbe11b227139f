// SPDX-License-Identifier: Apache-2.0

/// The rules for signatures (D-Bus specification, Type System), applied to bytes.
enum BusSignature {
    /// The maximum nesting depth of containers. The specification allows 32 levels of each kind;
    /// this protocol needs 4.
    static let maximumDepth = 8

    /// Returns `true` for zero or more complete types.
    static func isValid(_ types: ArraySlice<UInt8>) -> Bool {
        var rest = types
        while !rest.isEmpty { guard takeType(&rest, depth: 0) else { return false } }
        return true
    }

    private static func takeType(_ rest: inout ArraySlice<UInt8>, depth: Int) -> Bool {
        guard depth <= maximumDepth, let first = rest.popFirst() else { return false }
        switch first {
        case UInt8(ascii: "v"): return true
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else { return takeType(&rest, depth: depth + 1) }
            rest.removeFirst()
            guard let key = rest.popFirst(), isBasic(key), takeType(&rest, depth: depth + 1) else { return false }
            return rest.popFirst() == UInt8(ascii: "}")
        case UInt8(ascii: "("):
            repeat {
                guard takeType(&rest, depth: depth + 1) else { return false }
            } while rest.first != UInt8(ascii: ")")
            rest.removeFirst()
            return true
        default: return isBasic(first)
        }
    }

    private static func isBasic(_ type: UInt8) -> Bool { "ybnqiuxtdsogh".utf8.contains(type) }
}
