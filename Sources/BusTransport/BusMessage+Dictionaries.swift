// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Named values in messages: the D-Bus type `a{sv}`.
extension BusMessage {
    /// Appends the values of `body` inside a container.
    borrowing func inside(
        _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        let operation = "appending to a message"
        try Self.check(
            sd_bus_message_open_container(pointer, CChar(truncatingIfNeeded: type.value), contents), operation)
        try body()
        try Self.check(sd_bus_message_close_container(pointer), operation)
    }

    borrowing func append(_ entries: [String: BusValue], depth: Int) throws(BusError) {
        guard depth <= BusValue.maximumDepth else { throw Self.tooDeep }
        try inside("a", "{sv}") { () throws(BusError) in
            for (key, value) in entries {
                try inside("e", "sv") { () throws(BusError) in
                    try append(.string(key))
                    try inside("v", value.signature) { () throws(BusError) in try append(value, depth: depth) }
                }
            }
        }
    }

    borrowing func append(structure fields: [BusValue], _ signature: String, depth: Int) throws(BusError) {
        guard depth <= BusValue.maximumDepth else { throw Self.tooDeep }
        try inside("r", signature) { () throws(BusError) in
            for field in fields { try append(field, depth: depth) }
        }
    }

    borrowing func append(_ values: [BusValue], depth: Int) throws(BusError) {
        guard depth <= BusValue.maximumDepth else { throw Self.tooDeep }
        try inside("a", "v") { () throws(BusError) in
            for value in values {
                try inside("v", value.signature) { () throws(BusError) in try append(value, depth: depth) }
            }
        }
    }

    borrowing func readArray(_ room: inout Int, depth: Int) throws(BusError) -> [BusValue] {
        guard depth <= BusValue.maximumDepth else { throw Self.tooDeep }
        let operation = "reading an array of values"
        var values: [BusValue] = []
        try Self.check(sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "a")), "v"), operation)
        while try !isAtEnd(operation) {
            try Self.take(&room)
            values.append(try readVariant(&room, depth: depth))
        }
        try Self.check(sd_bus_message_exit_container(pointer), operation)
        return values
    }

    borrowing func readDictionaries(_ room: inout Int, depth: Int) throws(BusError) -> [[String: BusValue]] {
        let operation = "reading an array of dictionaries"
        var list: [[String: BusValue]] = []
        try Self.check(sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "a")), "a{sv}"), operation)
        while try !isAtEnd(operation) {
            try Self.take(&room)
            list.append(try readDictionary(&room, depth: depth))
        }
        try Self.check(sd_bus_message_exit_container(pointer), operation)
        return list
    }

    borrowing func readDictionary(_ room: inout Int, depth: Int) throws(BusError) -> [String: BusValue] {
        guard depth <= BusValue.maximumDepth else { throw Self.tooDeep }
        let operation = "reading a dictionary"
        var entries: [String: BusValue] = [:]
        try Self.check(sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "a")), "{sv}"), operation)
        while true {
            let entered = sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "e")), "sv")
            try Self.check(entered, operation)
            guard entered > 0 else { break }
            try Self.take(&room)
            guard let key = try readString() else { throw .malformed("a dictionary entry without a key") }
            let value = try readVariant(&room, depth: depth)
            guard entries.updateValue(value, forKey: key) == nil else {
                throw .malformed("a dictionary with two entries \(String(key.prefix(64)).debugDescription)")
            }
            try Self.check(sd_bus_message_exit_container(pointer), operation)
        }
        try Self.check(sd_bus_message_exit_container(pointer), operation)
        return entries
    }

    private borrowing func readVariant(_ room: inout Int, depth: Int) throws(BusError) -> BusValue {
        let operation = "reading a variant"
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        try Self.check(sd_bus_message_peek_type(pointer, &type, &contents), operation)
        guard let contents else { throw .malformed("a variant without a type") }
        try Self.check(sd_bus_message_enter_container(pointer, CChar(UInt8(ascii: "v")), contents), operation)
        var inner: UnsafePointer<CChar>?
        try Self.check(sd_bus_message_peek_type(pointer, &type, &inner), operation)
        let value = try readArgument(type, contents: inner.map { String(cString: $0) }, &room, depth: depth)
        try Self.check(sd_bus_message_exit_container(pointer), operation)
        return value
    }

    private borrowing func isAtEnd(_ operation: String) throws(BusError) -> Bool {
        let result = sd_bus_message_at_end(pointer, 0)
        try Self.check(result, operation)
        return result > 0
    }

    private static func take(_ room: inout Int) throws(BusError) {
        room -= 1
        guard room >= 0 else {
            throw .malformed("an argument with more than \(BusValue.maximumEntries) entries")
        }
    }

    private static var tooDeep: BusError {
        .malformed("dictionaries or arrays that are nested more than \(BusValue.maximumDepth) deep")
    }
}
