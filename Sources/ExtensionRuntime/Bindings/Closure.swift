// SPDX-License-Identifier: Apache-2.0
import CFFI
import Synchronization

/// A C function pointer that runs a Swift closure, for a library's callbacks.
///
/// It is never freed: a library may call it late or repeatedly, and a freed address would soon
/// belong to another callback, which would run instead. So the number of closures is limited, and a
/// worker that has reached the limit must be replaced.
///
/// `@unchecked Sendable`: written in `init` and only read afterwards; the body may be called from
/// any thread.
package final class Closure: @unchecked Sendable {
    /// The body. It receives the memory for the result, ``CallInterface/resultBytes`` bytes long,
    /// and the address of each argument.
    package typealias Body =
        @Sendable (UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Void

    /// The function's address.
    package let code: UnsafeMutableRawPointer
    private let interface: CallInterface
    private let body: Body

    /// The maximum number of closures in a worker: about a megabyte of memory.
    package static let maximum = 16_384
    private static let made = Atomic(0)

    private init(_ interface: CallInterface, code: UnsafeMutableRawPointer, body: @escaping Body) {
        self.interface = interface
        self.code = code
        self.body = body
    }

    /// Creates a callback that is never freed.
    ///
    /// - Throws: ``BindingFailure`` if there are too many closures.
    package static func make(
        _ interface: CallInterface, _ body: @escaping Body
    ) throws(BindingFailure) -> Closure {
        guard made.add(1, ordering: .relaxed).oldValue < maximum else {
            made.subtract(1, ordering: .relaxed)
            throw BindingFailure(
                .unavailable, "this worker has reached its limit of \(maximum) callbacks; retry in a new worker"
            )
        }
        var code: UnsafeMutableRawPointer?
        guard let memory = ffi_closure_alloc(MemoryLayout<ffi_closure>.size, &code), let code else {
            throw BindingFailure(.failed, "there is no executable memory for a callback")
        }
        let closure = Closure(interface, code: code, body: body)
        let context = Unmanaged.passRetained(closure)
        let status = ffi_prep_closure_loc(
            memory.assumingMemoryBound(to: ffi_closure.self), interface.description,
            { _, result, arguments, context in
                guard let context, let result else { return }
                Unmanaged<Closure>.fromOpaque(context).takeUnretainedValue().body(result, arguments)
            }, context.toOpaque(), code)
        guard status == FFI_OK else {
            context.release()
            ffi_closure_free(memory)
            throw BindingFailure(.failed, "libffi cannot make such a callback")
        }
        return closure
    }
}
