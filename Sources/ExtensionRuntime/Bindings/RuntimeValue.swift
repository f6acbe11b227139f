// SPDX-License-Identifier: Apache-2.0
import SymbolBindings

/// A binding's value at run time.
enum RuntimeValue {
    case integer(Int128)
    case float(Double)
    case text(String)
    case texts([String])
    /// Bytes in memory that is valid until the request ends or, in a callback, until the callback
    /// returns.
    case bytes(UnsafeRawBufferPointer)
    /// An address whose bytes are not read.
    case pointer(UnsafeMutableRawPointer)
    case null
    case url(String)
    /// Seconds since 1970.
    case date(Double)
    /// An absolute path.
    case file(String)

    /// Returns a copy of the bytes in a text or byte value.
    ///
    /// - Throws: ``BindingFailure`` if they exceed the limit.
    func copied() throws(BindingFailure) -> [UInt8]? {
        let bytes: [UInt8]
        switch self {
        case .text(let text): bytes = Array(text.utf8)
        case .bytes(let memory):
            try Self.check(Int128(memory.count), "a result")
            bytes = Array(memory)
        default: return nil
        }
        try Self.check(Int128(bytes.count), "a result")
        return bytes
    }

    /// Checks a byte count from an untrusted source.
    @discardableResult
    static func check(_ count: Int128, _ what: String) throws(BindingFailure) -> Int {
        guard count >= 0 else { throw BindingFailure(.failed, "\(what) has a negative length, \(count)") }
        guard count <= Int128(BindingLimits.valueBytes) else {
            throw BindingFailure(.tooLarge, "\(what) has \(count) bytes; the limit is \(BindingLimits.valueBytes)")
        }
        return Int(count)
    }

    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .float(let number): number
        default: nil
        }
    }
}

extension ScalarType {
    /// Writes a number as this type.
    func store(_ value: RuntimeValue, at place: UnsafeMutableRawPointer, _ what: String) throws(BindingFailure) {
        if isFloat {
            guard let number = value.number else { throw BindingFailure(.failed, "\(what) is not a number") }
            if self == .f32 {
                place.storeBytes(of: Float(number), as: Float.self)
            } else {
                place.storeBytes(of: number, as: Double.self)
            }
            return
        }
        guard case .integer(let number) = value, range.contains(number) else {
            throw BindingFailure(
                .invalidArgument,
                "\(what) is \(value.words), and \(rawValue) holds \(range.lowerBound) to \(range.upperBound)")
        }
        let bits = UInt64(truncatingIfNeeded: number)
        switch byteCount {
        case 1: place.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
        case 2: place.storeBytes(of: UInt16(truncatingIfNeeded: bits), as: UInt16.self)
        case 4: place.storeBytes(of: UInt32(truncatingIfNeeded: bits), as: UInt32.self)
        default: place.storeBytes(of: bits, as: UInt64.self)
        }
    }

    /// Reads a number of this type.
    func load(_ place: UnsafeRawPointer) -> RuntimeValue {
        switch self {
        case .i8: .integer(Int128(place.loadUnaligned(as: Int8.self)))
        case .i16: .integer(Int128(place.loadUnaligned(as: Int16.self)))
        case .i32: .integer(Int128(place.loadUnaligned(as: Int32.self)))
        case .i64: .integer(Int128(place.loadUnaligned(as: Int64.self)))
        case .u8: .integer(Int128(place.loadUnaligned(as: UInt8.self)))
        case .u16: .integer(Int128(place.loadUnaligned(as: UInt16.self)))
        case .u32: .integer(Int128(place.loadUnaligned(as: UInt32.self)))
        case .u64: .integer(Int128(place.loadUnaligned(as: UInt64.self)))
        case .f32: .float(Double(place.loadUnaligned(as: Float.self)))
        case .f64: .float(place.loadUnaligned(as: Double.self))
        }
    }

    /// Reads a returned number. libffi widens a narrow number to a whole word.
    func loadReturned(_ place: UnsafeRawPointer) -> RuntimeValue {
        guard !isFloat, byteCount < 8 else { return load(place) }
        var narrow = UInt64(truncatingIfNeeded: place.load(as: UInt.self))
        #if _endian(big)
            narrow <<= UInt64(64 - 8 * byteCount)
        #endif
        return withUnsafeBytes(of: &narrow) { bytes in bytes.baseAddress.map { load($0) } ?? .integer(0) }
    }
}

extension RuntimeValue {
    /// A description of the value for error messages.
    var words: String {
        switch self {
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .null: "null"
        default: "no whole number"
        }
    }
}
