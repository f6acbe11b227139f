// SPDX-License-Identifier: Apache-2.0

/// A C number type.
public enum ScalarType: String, Sendable, CaseIterable {
    /// Signed, unsigned or floating-point, followed by the number of bits.
    case i8, i16, i32, i64, u8, u16, u32, u64, f32, f64

    /// The size in memory, in bytes.
    public var byteCount: Int {
        switch self {
        case .i8, .u8: 1
        case .i16, .u16: 2
        case .i32, .u32, .f32: 4
        case .i64, .u64, .f64: 8
        }
    }

    /// `true` for a floating-point type.
    public var isFloat: Bool { self == .f32 || self == .f64 }

    /// The range of whole numbers that this type accepts. A floating-point type accepts all of
    /// them.
    public var range: ClosedRange<Int128> {
        switch self {
        case .i8: Int128(Int8.min)...Int128(Int8.max)
        case .i16: Int128(Int16.min)...Int128(Int16.max)
        case .i32: Int128(Int32.min)...Int128(Int32.max)
        case .i64: Int128(Int64.min)...Int128(Int64.max)
        case .u8: 0...Int128(UInt8.max)
        case .u16: 0...Int128(UInt16.max)
        case .u32: 0...Int128(UInt32.max)
        case .u64: 0...Int128(UInt64.max)
        case .f32, .f64: Int128(Int64.min)...Int128(UInt64.max)
        }
    }

    /// Creates the type for a word of the language: its own name or its C name. On Searchlight's
    /// platforms, `long` and pointers are 64 bits wide.
    init?(word: String) {
        switch word {
        case "int": self = .i32
        case "uint": self = .u32
        case "long", "isize": self = .i64
        case "ulong", "usize": self = .u64
        case "bool": self = .u8
        default: self.init(rawValue: word)
        }
    }
}
