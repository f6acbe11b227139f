// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import SystemSupport

/// An sd-bus message that is being built or read; owns its reference. Confined to the connection's
/// thread, because sd-bus allows a connection's messages to be used only there.
struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes ownership of a reference.
    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sd_bus_message_unref(pointer) }

    /// The maximum number of arguments in a message.
    static let maximumArguments = 16

    static func check(_ result: Int32, _ operation: String) throws(BusError) {
        if result < 0 { throw .system(operation: operation, code: -result) }
    }

    /// Appends arguments. ``BusArguments`` reads them unchanged.
    borrowing func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value.asArgument()) }
    }

    borrowing func append(_ value: BusValue, depth: Int = 0) throws(BusError) {
        let operation = "appending to a message"
        switch value {
        case .string(let text): try append(text, as: "s")
        case .strings(let texts):
            try Self.check(sd_bus_message_open_container(pointer, CChar(UInt8(ascii: "a")), "s"), operation)
            for text in texts { try append(text, as: "s") }
            try Self.check(sd_bus_message_close_container(pointer), operation)
        case .unsigned(let number): try append(number, as: "t")
        case .double(let number): try append(number, as: "d")
        case .signed(let number): try append(number, as: "x")
        case .unsigned32(let number): try append(number, as: "u")
        case .signed32(let number): try append(number, as: "i")
        case .boolean(let truth): try append(Int32(truth ? 1 : 0), as: "b")
        // sd-bus duplicates the descriptor.
        case .descriptor(let descriptor): try append(descriptor.number, as: "h")
        case .bytes(let bytes):
            let result = bytes.withUnsafeBufferPointer {
                sd_bus_message_append_array(pointer, CChar(UInt8(ascii: "y")), $0.baseAddress, $0.count)
            }
            try Self.check(result, operation)
        case .dictionary(let entries): try append(entries, depth: depth + 1)
        case .dictionaries(let list):
            try inside("a", "a{sv}") { () throws(BusError) in
                for entries in list { try append(entries, depth: depth + 1) }
            }
        case .array(let values): try append(values, depth: depth + 1)
        case .object(let path): try append(path, as: "o")
        case .objects(let paths):
            try inside("a", "o") { () throws(BusError) in for path in paths { try append(.object(path)) } }
        case .texts(let entries):
            try inside("a", "{ss}") { () throws(BusError) in
                for (key, text) in entries {
                    try inside("e", "ss") { () throws(BusError) in
                        try append(.string(key))
                        try append(.string(text))
                    }
                }
            }
        case .variant(let value):
            try inside("v", value.signature) { () throws(BusError) in try append(value, depth: depth + 1) }
        case .structure(let fields):
            try append(structure: fields, String(value.signature.dropFirst().dropLast()), depth: depth + 1)
        case .structures(let signature, let list):
            try inside("a", "(\(signature))") { () throws(BusError) in
                for fields in list { try append(structure: fields, signature, depth: depth + 1) }
            }
        }
    }

    /// Appends a text or an object path. sd-bus would cut a text at its first NUL.
    private borrowing func append(_ text: String, as type: Unicode.Scalar) throws(BusError) {
        guard !text.utf8.contains(0),
            case let result = sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), text),
            result != -EINVAL
        else {
            throw .malformed("it contains a text with a NUL or a noncharacter, which D-Bus cannot represent")
        }
        try Self.check(result, "appending to a message")
    }

    private borrowing func append<Value: BitwiseCopyable>(_ value: Value, as type: Unicode.Scalar) throws(BusError) {
        let result = withUnsafePointer(to: value) {
            sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), $0)
        }
        try Self.check(result, "appending to a message")
    }

    /// Reads all arguments; rejects types that the protocol does not use.
    borrowing func readArguments() throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let result = sd_bus_message_peek_type(pointer, &type, &contents)
            try Self.check(result, "reading a message")
            if result == 0 { return values }
            guard values.count < Self.maximumArguments else {
                throw .malformed("more than \(Self.maximumArguments) arguments")
            }
            var room = BusValue.maximumEntries
            values.append(try readArgument(type, contents: contents.map { String(cString: $0) }, &room))
        }
    }

    /// Reads one argument, or the content of a variant.
    ///
    /// - Parameter room: The number of further dictionary entries that are allowed.
    borrowing func readArgument(
        _ type: CChar, contents: String?, _ room: inout Int, depth: Int = 0
    ) throws(BusError) -> BusValue {
        switch (UInt8(bitPattern: type), contents) {
        case (UInt8(ascii: "s"), _): return .string(try readString() ?? "")
        case (UInt8(ascii: "t"), _): return .unsigned(try readBasic(type, UInt64(0)))
        case (UInt8(ascii: "b"), _): return .boolean(try readBasic(type, Int32(0)) != 0)
        case (UInt8(ascii: "h"), _):
            guard let descriptor = OwnedDescriptor(duplicating: try readBasic(type, Int32(-1))) else {
                throw .system(operation: "duplicating a file descriptor", code: errno)
            }
            return .descriptor(descriptor)
        case (UInt8(ascii: "d"), _): return .double(try readBasic(type, Double(0)))
        case (UInt8(ascii: "x"), _): return .signed(try readBasic(type, Int64(0)))
        case (UInt8(ascii: "u"), _): return .unsigned32(try readBasic(type, UInt32(0)))
        case (UInt8(ascii: "i"), _): return .signed32(try readBasic(type, Int32(0)))
        case (UInt8(ascii: "a"), "{sv}"): return .dictionary(try readDictionary(&room, depth: depth + 1))
        case (UInt8(ascii: "a"), "a{sv}"): return .dictionaries(try readDictionaries(&room, depth: depth + 1))
        case (UInt8(ascii: "a"), "v"): return .array(try readArray(&room, depth: depth + 1))
        case (UInt8(ascii: "a"), "y"):
            var start: UnsafeRawPointer?
            var count = 0
            try Self.check(
                sd_bus_message_read_array(pointer, CChar(UInt8(ascii: "y")), &start, &count), "reading bytes")
            return .bytes(Array(UnsafeRawBufferPointer(start: start, count: count)))
        case (UInt8(ascii: "a"), "s"):
            var texts: [String] = []
            try Self.check(
                sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "a")), "s"), "reading an array of texts")
            while let text = try readString() { texts.append(text) }
            try Self.check(sd_bus_message_exit_container(pointer), "reading an array of texts")
            return .strings(texts)
        default:
            throw .malformed("an argument of type \(Self.signature(type, contents))")
        }
    }

    /// Returns the D-Bus signature of a type. sd-bus uses its own letters for structures and
    /// dictionary entries.
    private static func signature(_ type: CChar, _ contents: String?) -> String {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "r"): "(\(contents ?? ""))"
        case UInt8(ascii: "e"): "{\(contents ?? "")}"
        // The content of a variant is not part of its signature.
        case UInt8(ascii: "v"): "v"
        case let letter: "\(Character(UnicodeScalar(letter)))\(contents ?? "")"
        }
    }

    private borrowing func readBasic<Value: BitwiseCopyable>(_ type: CChar, _ initial: Value) throws(BusError) -> Value
    {
        var value = initial
        try Self.check(sd_bus_message_read_basic(pointer, type, &value), "reading a message")
        return value
    }

    /// Returns the next string; `nil` at the end of an array. sd-bus has checked that it is UTF-8.
    borrowing func readString() throws(BusError) -> String? {
        var start: UnsafePointer<CChar>?
        let result = sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "s")), &start)
        try Self.check(result, "reading a text")
        guard result > 0, let start else { return nil }
        return String(cString: start)
    }
}
