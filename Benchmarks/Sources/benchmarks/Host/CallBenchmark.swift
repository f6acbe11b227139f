// SPDX-License-Identifier: Apache-2.0
import ExtensionRuntime
import Foundation
import Glibc

/// Measures libffi's overhead for calls by address and for callbacks.
enum CallBenchmark {
    private static let repetitions = 1_000_000

    static func run() throws -> [Measurement] {
        try [integers(), floats(), pointers(), callbacks()]
    }

    /// Returns the address of a C library function, looked up in the same way as the functions of a
    /// binding.
    private static func address(_ name: String) throws -> UnsafeMutableRawPointer {
        guard let found = dlsym(nil, name) else { throw BenchmarkError("the C library has no \(name)") }
        return found
    }

    private static func measurement(_ what: String, _ bound: Double, _ direct: Double) -> Measurement {
        Measurement(
            name: "what libffi adds to \(what)", value: (bound - direct) * 1e9, unit: "ns", baseline: "a direct call",
            baselineValue: direct * 1e9, row: .boundCall)
    }

    private static func integers() throws -> Measurement {
        let function = try address("labs")
        let direct = unsafeBitCast(function, to: (@convention(c) (Int) -> Int).self)
        let plain = medianSeconds(repetitions: repetitions) { blackHole(direct(-7)) }
        let interface = try CallInterface([.scalar(.i64)], result: .scalar(.i64))
        let slots = Slots([-7], interface)
        let bound = medianSeconds(repetitions: repetitions) { slots.call(function) }
        return measurement("labs(long)", bound, plain)
    }

    private static func floats() throws -> Measurement {
        let function = try address("frexp")
        let direct = unsafeBitCast(function, to: (@convention(c) (Double, UnsafeMutablePointer<Int32>) -> Double).self)
        let exponent = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        defer { exponent.deallocate() }
        let plain = medianSeconds(repetitions: repetitions) { blackHole(direct(2.5, exponent)) }
        let interface = try CallInterface([.scalar(.f64), .pointer], result: .scalar(.f64))
        let slots = Slots([Int(bitPattern: UInt((2.5).bitPattern)), Int(bitPattern: exponent)], interface)
        let bound = medianSeconds(repetitions: repetitions) { slots.call(function) }
        return measurement("frexp(double, int *)", bound, plain)
    }

    private static func pointers() throws -> Measurement {
        typealias Function =
            @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int32, Int) -> UnsafeMutableRawPointer?
        let function = try address("memccpy")
        let direct = unsafeBitCast(function, to: Function.self)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
        defer { memory.deallocate() }
        let plain = medianSeconds(repetitions: repetitions) { blackHole(direct(memory, memory, 1, 0)) }
        let interface = try CallInterface(
            [.pointer, .pointer, .scalar(.i32), .scalar(.u64)], result: .pointer)
        let slots = Slots([Int(bitPattern: memory), Int(bitPattern: memory), 1, 0], interface)
        let bound = medianSeconds(repetitions: repetitions) { slots.call(function) }
        return measurement("memccpy(void *, void *, int, size_t)", bound, plain)
    }

    /// Measures bsearch(3) in an array of one element, which calls back once.
    private static func callbacks() throws -> Measurement {
        typealias Comparison = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
        let search = unsafeBitCast(
            try address("bsearch"),
            to: (@convention(c) (UnsafeRawPointer, UnsafeRawPointer, Int, Int, Comparison) -> UnsafeMutableRawPointer?)
                .self)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
        defer { memory.deallocate() }
        let plainComparison: Comparison = { _, _ in 0 }
        let plain = medianSeconds(repetitions: repetitions) { blackHole(search(memory, memory, 1, 8, plainComparison)) }
        let interface = try CallInterface([.pointer, .pointer], result: .scalar(.i32))
        let closure = try Closure.make(interface) { result, _ in result.storeBytes(of: 0, as: Int.self) }
        let comparison = unsafeBitCast(closure.code, to: Comparison.self)
        let bound = medianSeconds(repetitions: repetitions) { blackHole(search(memory, memory, 1, 8, comparison)) }
        return measurement("a call back", bound, plain)
    }
}

/// Word-sized arguments in libffi's layout.
private final class Slots {
    private let interface: CallInterface
    private let words: UnsafeMutablePointer<Int>
    private let addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private let result: UnsafeMutableRawPointer

    init(_ values: [Int], _ interface: CallInterface) {
        self.interface = interface
        words = .allocate(capacity: values.count)
        words.initialize(from: values, count: values.count)
        addresses = .allocate(capacity: values.count)
        for index in values.indices { (addresses + index).initialize(to: UnsafeMutableRawPointer(words + index)) }
        result = .allocate(byteCount: interface.resultBytes, alignment: 16)
    }

    deinit {
        words.deallocate()
        addresses.deallocate()
        result.deallocate()
    }

    func call(_ function: UnsafeMutableRawPointer) { interface.call(function, addresses, result: result) }
}
