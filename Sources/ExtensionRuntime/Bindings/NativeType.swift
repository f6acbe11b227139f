// SPDX-License-Identifier: Apache-2.0
import CFFI
import SymbolBindings

/// A C type.
package indirect enum NativeType: Hashable {
    case void
    case pointer
    case scalar(ScalarType)
    case structure([NativeType])
}

/// A type in the form of libffi's description, with the offsets of its fields. Owns the memory of
/// struct descriptions.
///
/// `@unchecked Sendable`: all memory is written in `init` and only read afterwards.
final class NativeLayout: @unchecked Sendable {
    let type: UnsafeMutablePointer<ffi_type>
    let fields: [NativeLayout]
    /// The field offsets, in bytes.
    let offsets: [Int]
    private let elements: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>?

    var size: Int { type.pointee.size }
    var alignment: Int { max(1, Int(type.pointee.alignment)) }

    init(_ native: NativeType) throws(BindingFailure) {
        guard case .structure(let members) = native else {
            (type, fields, offsets, elements) = (Self.simple(native), [], [], nil)
            return
        }
        var fields: [NativeLayout] = []
        for member in members { fields.append(try NativeLayout(member)) }
        let elements = UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>.allocate(capacity: fields.count + 1)
        elements.initialize(repeating: nil, count: fields.count + 1)
        for (index, field) in fields.enumerated() { elements[index] = field.type }
        let type = UnsafeMutablePointer<ffi_type>.allocate(capacity: 1)
        type.initialize(to: ffi_type(size: 0, alignment: 0, type: UInt16(FFI_TYPE_STRUCT), elements: elements))
        var offsets = [Int](repeating: 0, count: fields.count)
        // Also computes size and alignment.
        let status = ffi_get_struct_offsets(FFI_DEFAULT_ABI, type, &offsets)
        guard status == FFI_OK else {
            type.deallocate()
            elements.deallocate()
            throw BindingFailure(.failed, "libffi cannot describe a struct of \(members.count) fields")
        }
        (self.type, self.fields, self.offsets, self.elements) = (type, fields, offsets, elements)
    }

    deinit {
        guard let elements else { return }
        elements.deallocate()
        type.deallocate()
    }

    private static func simple(_ native: NativeType) -> UnsafeMutablePointer<ffi_type> {
        switch native {
        case .void, .structure: cffi_void()
        case .pointer: cffi_pointer()
        case .scalar(let scalar):
            switch scalar {
            case .i8: cffi_sint8()
            case .i16: cffi_sint16()
            case .i32: cffi_sint32()
            case .i64: cffi_sint64()
            case .u8: cffi_uint8()
            case .u16: cffi_uint16()
            case .u32: cffi_uint32()
            case .u64: cffi_uint64()
            case .f32: cffi_float()
            case .f64: cffi_double()
            }
        }
    }
}
