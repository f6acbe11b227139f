// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// An argument of a message, in one of the D-Bus types that the protocol uses.
public enum BusValue: Sendable {
    /// `s`
    case string(String)
    /// `as`
    case strings([String])
    /// `t`
    case unsigned(UInt64)
    /// `b`
    case boolean(Bool)
    /// `ay`
    case bytes([UInt8])
    /// `h`
    case descriptor(OwnedDescriptor)
    /// `d`
    case double(Double)
    /// `x`
    case signed(Int64)
    /// `u`
    case unsigned32(UInt32)
    /// `i`
    case signed32(Int32)
    /// `a{sv}`
    indirect case dictionary([String: BusValue])
    /// `aa{sv}`
    indirect case dictionaries([[String: BusValue]])
    /// `av`
    indirect case array([BusValue])
    /// `o`; sent, never read.
    case object(String)
    /// `ao`; sent, never read.
    case objects([String])
    /// `a{ss}`; sent, never read.
    case texts([String: String])
    /// `v`; only as an argument or in a structure, since every other container adds variants
    /// itself. Sent, never read.
    indirect case variant(BusValue)
    /// `(…)`; sent but never read.
    indirect case structure([BusValue])
    /// `a(…)` with the signature of the fields; sent but never read. The fields of every structure
    /// must have the types in the signature.
    indirect case structures(fields: String, [[BusValue]])

    /// The maximum number of dictionary entries and array elements in one argument.
    public static let maximumEntries = 100_000
    /// The maximum nesting depth of dictionaries and of arrays of values.
    public static let maximumDepth = 16

    /// The D-Bus signature of the value.
    public var signature: String {
        switch self {
        case .string: "s"
        case .strings: "as"
        case .unsigned: "t"
        case .boolean: "b"
        case .bytes: "ay"
        case .descriptor: "h"
        case .double: "d"
        case .signed: "x"
        case .unsigned32: "u"
        case .signed32: "i"
        case .dictionary: "a{sv}"
        case .dictionaries: "aa{sv}"
        case .array: "av"
        case .object: "o"
        case .objects: "ao"
        case .texts: "a{ss}"
        case .variant: "v"
        case .structure(let fields): "(\(fields.map(\.signature).joined()))"
        case .structures(let fields, _): "a(\(fields))"
        }
    }
}

extension BusValue {
    /// The approximate size of the value in a message, in bytes.
    package var approximateBytes: Int {
        switch self {
        case .string(let text), .object(let text): 8 + text.utf8.count
        case .texts(let entries): entries.reduce(8) { $0 + 16 + $1.key.utf8.count + $1.value.utf8.count }
        case .strings(let texts), .objects(let texts): texts.reduce(8) { $0 + 8 + $1.utf8.count }
        case .unsigned, .boolean, .descriptor, .double, .signed, .unsigned32, .signed32: 8
        case .bytes(let bytes): 8 + bytes.count
        case .dictionary(let entries): Self.bytes(of: entries)
        case .dictionaries(let list): list.reduce(8) { $0 + Self.bytes(of: $1) }
        case .array(let values): values.reduce(8) { $0 + 16 + $1.approximateBytes }
        case .variant(let value): 8 + value.approximateBytes
        case .structure(let fields): Self.bytes(of: fields)
        case .structures(_, let list): list.reduce(8) { $0 + Self.bytes(of: $1) }
        }
    }

    private static func bytes(of fields: [BusValue]) -> Int { fields.reduce(8) { $0 + $1.approximateBytes } }

    private static func bytes(of entries: [String: BusValue]) -> Int {
        // The key's length and terminator, the variant's signature, and padding.
        entries.reduce(8) { $0 + 24 + $1.key.utf8.count + $1.value.approximateBytes }
    }
}

/// An error of a call or a connection.
public enum BusError: Error, Sendable, CustomStringConvertible {
    /// The peer has disconnected.
    case disconnected
    /// The caller no longer waits.
    case cancelled
    /// The peer answered with an error.
    case remote(name: String, message: String)
    /// The arguments of a message do not match its name.
    case malformed(String)
    /// A system call or sd-bus function failed.
    case system(operation: String, code: Int32)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .disconnected: "The connection to the other process ended."
        case .cancelled: "The call was cancelled."
        case .remote(let name, let message):
            message.isEmpty ? "The other process answered with the error \(name)." : message
        case .malformed(let what): "A message is malformed: \(what)."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }
}

/// Reads the arguments of a message in order and reports the first invalid one.
public struct BusArguments: Sendable {
    private var rest: ArraySlice<BusValue>
    private let member: String

    /// Creates a reader for the arguments of `member`.
    public init(_ values: [BusValue], of member: String) {
        rest = values[...]
        self.member = member
    }

    private mutating func next(_ expected: String) throws(BusError) -> BusValue {
        guard let value = rest.popFirst() else {
            throw .malformed("\(member) ends where an argument of type \(expected) was expected")
        }
        return value
    }

    private mutating func take<Value>(_ expected: String, _ read: (BusValue) -> Value?) throws(BusError) -> Value {
        let value = try next(expected)
        guard let read = read(value) else {
            throw .malformed("\(member) has an argument of type \(value.signature) where \(expected) was expected")
        }
        return read
    }

    /// Returns the next argument as a string.
    public mutating func string() throws(BusError) -> String {
        try take("s", \.argumentText)
    }

    /// Returns the next argument as an array of strings.
    public mutating func strings() throws(BusError) -> [String] {
        try take("as") {
            switch $0 {
            case .strings(let texts): return texts
            case .array(let values):
                let texts = values.compactMap(\.argumentText)
                return texts.count == values.count ? texts : nil
            default: return nil
            }
        }
    }

    /// Returns the next argument as an unsigned 64-bit integer.
    public mutating func unsigned() throws(BusError) -> UInt64 {
        try take("t") { if case .unsigned(let number) = $0 { number } else { nil } }
    }

    /// Returns the next argument as a floating-point number.
    public mutating func double() throws(BusError) -> Double {
        try take("d") { if case .double(let number) = $0 { number } else { nil } }
    }

    /// Returns the next argument as a Boolean value.
    public mutating func boolean() throws(BusError) -> Bool {
        try take("b") { if case .boolean(let truth) = $0 { truth } else { nil } }
    }

    /// Returns the next argument as bytes.
    public mutating func bytes() throws(BusError) -> [UInt8] {
        try take("ay") { if case .bytes(let bytes) = $0 { bytes } else { nil } }
    }

    /// Returns the next argument as a file descriptor.
    public mutating func descriptor() throws(BusError) -> OwnedDescriptor {
        try take("h") { if case .descriptor(let descriptor) = $0 { descriptor } else { nil } }
    }

    /// Returns the next argument as a dictionary of named values.
    public mutating func dictionary() throws(BusError) -> [String: BusValue] {
        try take("a{sv}") { if case .dictionary(let entries) = $0 { entries } else { nil } }
    }

    /// Returns the next argument as an array of dictionaries.
    public mutating func dictionaries() throws(BusError) -> [[String: BusValue]] {
        try take("aa{sv}") { if case .dictionaries(let list) = $0 { list } else { nil } }
    }

    /// Returns the next argument as an unsigned 32-bit integer.
    public mutating func unsigned32() throws(BusError) -> UInt32 {
        try take("u") { if case .unsigned32(let number) = $0 { number } else { nil } }
    }

    /// Returns the next argument, of any type.
    public mutating func value() throws(BusError) -> BusValue { try next("any type") }

    /// Checks that no arguments are left.
    public func finish() throws(BusError) {
        guard rest.isEmpty else { throw .malformed("\(member) has \(rest.count) arguments too many") }
    }
}
