// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// A D-Bus value from another program's interface, limited by ``Bounds``. Its type may differ from
/// the type that the interface declares.
public indirect enum ForeignValue: Hashable, Sendable {
    /// `b`
    case boolean(Bool)
    /// `n`, `i`, `x`
    case signed(Int64)
    /// `y`, `q`, `u`, `t`
    case unsigned(UInt64)
    /// `d`; may be infinite or NaN.
    case double(Double)
    /// `s`, `o`, `g`
    case text(String)
    /// An array or a structure. Each byte is a value too.
    case list([ForeignValue])
    /// A dictionary whose keys are strings.
    case entries([String: ForeignValue])
    /// A value that is not stored: a descriptor, a dictionary with other keys, or a value that
    /// exceeds the bounds.
    case skipped

    /// The limits for one message.
    public enum Bounds {
        /// The maximum number of values of any kind.
        public static let values = 4096
        /// The maximum total size of all texts, in bytes.
        public static let textBytes = 64 << 10
        /// The maximum nesting depth of containers.
        public static let depth = 8
    }

    /// The Boolean value; `nil` for other types.
    public var boolean: Bool? { if case .boolean(let truth) = self { truth } else { nil } }
    /// The text; `nil` for other types.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The number; `nil` if it is negative or not an integer.
    public var unsigned: UInt64? {
        switch self {
        case .unsigned(let number): number
        case .signed(let number): UInt64(exactly: number)
        default: nil
        }
    }
    /// The number; `nil` if it is not finite or not a number.
    public var finite: Double? {
        switch self {
        case .double(let number): number.isFinite ? number : nil
        case .unsigned(let number): Double(number)
        case .signed(let number): Double(number)
        default: nil
        }
    }
    /// The members of an array or a structure; empty for other types.
    public var members: [ForeignValue] { if case .list(let members) = self { members } else { [] } }
    /// The entries of a dictionary; empty for other types.
    public var entries: [String: ForeignValue] { if case .entries(let entries) = self { entries } else { [:] } }
}

/// A signal from a program on a message bus.
public struct BusSignal: Sendable {
    /// The path of the object that sent the signal.
    public var path: String
    /// The interface and name of the signal.
    public var member: BusMember
    /// The arguments of the signal.
    public var arguments: [ForeignValue]
}

extension BusMessage {
    /// The number of values and text bytes that may still be read from a message.
    private struct Room {
        var values = ForeignValue.Bounds.values
        var textBytes = ForeignValue.Bounds.textBytes
    }

    /// Reads all arguments of another program's message.
    borrowing func readForeign() throws(BusError) -> [ForeignValue] {
        var room = Room()
        return try readForeignMembers(&room, depth: 0)
    }

    /// Reads the rest of the current container or message.
    private borrowing func readForeignMembers(_ room: inout Room, depth: Int) throws(BusError) -> [ForeignValue] {
        var members: [ForeignValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = sd_bus_message_peek_type(pointer, &type, &contents)
            try Self.check(result, "reading a message")
            if result == 0 { return members }
            guard room.values > 0, depth < ForeignValue.Bounds.depth else {
                try skip()
                continue
            }
            room.values -= 1
            members.append(try readForeignValue(type, contents: contents.map { String(cString: $0) }, &room, depth))
        }
    }

    private borrowing func readForeignValue(
        _ type: CChar, contents: String?, _ room: inout Room, _ depth: Int
    ) throws(BusError) -> ForeignValue {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "b"): return .boolean(try basic(type, Int32(0)) != 0)
        case UInt8(ascii: "y"): return .unsigned(UInt64(try basic(type, UInt8(0))))
        case UInt8(ascii: "q"): return .unsigned(UInt64(try basic(type, UInt16(0))))
        case UInt8(ascii: "u"): return .unsigned(UInt64(try basic(type, UInt32(0))))
        case UInt8(ascii: "t"): return .unsigned(try basic(type, UInt64(0)))
        case UInt8(ascii: "n"): return .signed(Int64(try basic(type, Int16(0))))
        case UInt8(ascii: "i"): return .signed(Int64(try basic(type, Int32(0))))
        case UInt8(ascii: "x"): return .signed(try basic(type, Int64(0)))
        case UInt8(ascii: "d"): return .double(try basic(type, Double(0)))
        case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"): return try foreignText(type, &room)
        case UInt8(ascii: "a"):
            guard let contents else { break }
            if contents.hasPrefix("{s") { return try foreignEntries(contents, &room, depth) }
            if contents.hasPrefix("{") { break }
            return try .list(inside(type, contents, &room, depth))
        case UInt8(ascii: "r"):
            guard let contents else { break }
            return try .list(inside(type, contents, &room, depth))
        case UInt8(ascii: "v"):
            guard let contents else { break }
            return try inside(type, contents, &room, depth).first ?? .skipped
        default: break
        }
        try skip()
        return .skipped
    }

    /// Reads the members of a container.
    private borrowing func inside(
        _ type: CChar, _ contents: String, _ room: inout Room, _ depth: Int
    ) throws(BusError) -> [ForeignValue] {
        try Self.check(sd_bus_message_enter_container(pointer, type, contents), "reading a container")
        let members = try readForeignMembers(&room, depth: depth + 1)
        try Self.check(sd_bus_message_exit_container(pointer), "reading a container")
        return members
    }

    private borrowing func foreignEntries(
        _ contents: String, _ room: inout Room, _ depth: Int
    ) throws(BusError) -> ForeignValue {
        let (array, entry) = (CChar(UInt8(ascii: "a")), CChar(UInt8(ascii: "e")))
        try Self.check(sd_bus_message_enter_container(pointer, array, contents), "reading a dictionary")
        var entries: [String: ForeignValue] = [:]
        let types = String(contents.dropFirst().dropLast())
        while true {
            let entered = sd_bus_message_enter_container(pointer, entry, types)
            try Self.check(entered, "reading a dictionary")
            guard entered > 0 else { break }
            let pair = try readForeignMembers(&room, depth: depth + 1)
            // For duplicate keys, the first entry is used.
            if case .text(let key)? = pair.first, pair.count == 2, entries[key] == nil { entries[key] = pair[1] }
            try Self.check(sd_bus_message_exit_container(pointer), "reading a dictionary")
        }
        try Self.check(sd_bus_message_exit_container(pointer), "reading a dictionary")
        return .entries(entries)
    }

    private borrowing func foreignText(_ type: CChar, _ room: inout Room) throws(BusError) -> ForeignValue {
        var start: UnsafePointer<CChar>?
        try Self.check(sd_bus_message_read_basic(pointer, type, &start), "reading a text")
        guard let start, strlen(start) <= room.textBytes else { return .skipped }
        let text = String(cString: start)
        room.textBytes -= text.utf8.count
        return .text(text)
    }

    private borrowing func basic<Value: BitwiseCopyable>(_ type: CChar, _ initial: Value) throws(BusError) -> Value {
        var value = initial
        try Self.check(sd_bus_message_read_basic(pointer, type, &value), "reading a message")
        return value
    }

    private borrowing func skip() throws(BusError) {
        try Self.check(sd_bus_message_skip(pointer, nil), "skipping a value")
    }
}
