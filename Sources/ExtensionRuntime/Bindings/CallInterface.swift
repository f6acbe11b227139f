// SPDX-License-Identifier: Apache-2.0
import CFFI
import SymbolBindings

/// The calling convention of functions with one signature. It is the only owner of libffi's
/// description of the convention.
///
/// `@unchecked Sendable`: all memory is written in `init` and only read afterwards; libffi's calls
/// only read it.
package final class CallInterface: @unchecked Sendable {
    let parameters: [NativeLayout]
    let result: NativeLayout
    /// The description, whose address is needed by closures.
    let description: UnsafeMutablePointer<ffi_cif>
    private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>

    /// The number of bytes for a result. libffi writes whole words.
    package var resultBytes: Int { max(result.size, MemoryLayout<ffi_arg>.size) }

    package init(_ parameters: [NativeType], result: NativeType) throws(BindingFailure) {
        var layouts: [NativeLayout] = []
        for parameter in parameters { layouts.append(try NativeLayout(parameter)) }
        self.parameters = layouts
        self.result = try NativeLayout(result)
        types = .allocate(capacity: layouts.count + 1)
        types.initialize(repeating: nil, count: layouts.count + 1)
        for (index, layout) in layouts.enumerated() { types[index] = layout.type }
        description = .allocate(capacity: 1)
        description.initialize(to: ffi_cif())
        let status = ffi_prep_cif(description, FFI_DEFAULT_ABI, UInt32(layouts.count), self.result.type, types)
        guard status == FFI_OK else {
            throw BindingFailure(.failed, "libffi cannot call a function of \(layouts.count) such parameters")
        }
    }

    deinit {
        description.deallocate()
        types.deallocate()
    }

    /// Calls a function.
    ///
    /// - Parameters:
    ///   - function: The address of a function with this signature, which cannot be checked.
    ///   - arguments: The address of each argument.
    ///   - result: Memory of at least ``resultBytes`` bytes.
    package func call(
        _ function: UnsafeMutableRawPointer, _ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
        result: UnsafeMutableRawPointer
    ) {
        ffi_call(description, unsafeBitCast(function, to: (@convention(c) () -> Void).self), result, arguments)
    }
}
