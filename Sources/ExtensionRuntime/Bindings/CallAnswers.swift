// SPDX-License-Identifier: Apache-2.0
import Glibc
import SymbolBindings

extension BoundPointer {
    func read(
        _ pointer: UnsafeMutableRawPointer, _ what: String,
        count: (BoundValue) throws(BindingFailure) -> Int128
    ) throws(BindingFailure) -> RuntimeValue {
        switch target {
        case .opaque: return .pointer(pointer)
        case .bytes(let length):
            let count = try RuntimeValue.check(try count(length), what)
            return .bytes(UnsafeRawBufferPointer(start: pointer, count: count))
        case .text:
            let length = strnlen(pointer.assumingMemoryBound(to: CChar.self), BindingLimits.valueBytes + 1)
            try RuntimeValue.check(Int128(length), what)
            let bytes = UnsafeRawBufferPointer(start: pointer, count: length)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw BindingFailure(.failed, "\(what) is not UTF-8; bind it as bytes if it is not text")
            }
            return .text(text)
        }
    }
}

/// The results of a call, split into numbers and addresses.
struct CallAnswers {
    struct Pointer {
        let name: String
        let form: BoundPointer
        let place: UnsafeMutableRawPointer
        var pointer: UnsafeMutableRawPointer? { place.loadUnaligned(as: UnsafeMutableRawPointer?.self) }
    }
    private struct Number {
        let name: String
        let type: ScalarType
        let place: UnsafeMutableRawPointer
        let isReturned: Bool
    }
    private(set) var pointers: [Pointer] = []
    private var places: [Number] = []

    /// The current values of the numbers.
    var numbers: [(String, RuntimeValue)] {
        places.map { ($0.name, $0.isReturned ? $0.type.loadReturned($0.place) : $0.type.load($0.place)) }
    }

    mutating func add(
        _ name: String, _ form: BoundResult.Form, at place: UnsafeMutableRawPointer, layout: NativeLayout?,
        isReturned: Bool
    ) {
        switch form {
        case .scalar(let type): places.append(Number(name: name, type: type, place: place, isReturned: isReturned))
        case .pointed(let pointer): pointers.append(Pointer(name: name, form: pointer, place: place))
        case .structure(let fields):
            guard let layout else { return }
            for (position, field) in fields.enumerated() {
                let full = name == "_" || field.name == "_" ? "_" : name + "." + field.name
                add(
                    full, field.form, at: place + layout.offsets[position], layout: layout.fields[position],
                    isReturned: false)
            }
        }
    }
}
