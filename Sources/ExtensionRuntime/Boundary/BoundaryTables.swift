// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import CFFI
import Glibc
import SearchlightExtension
import SymbolBindings
import SystemSupport

/// Handles an extension's calls: the recorder or a player.
protocol BoundaryHandler: AnyObject, Sendable {
    /// Handles a call.
    func handle(_ call: BoundaryCall)
}

/// A call in progress to one of the host's functions.
///
/// Exists only during the call, on its thread.
struct BoundaryCall {
    let function: BoundaryFunction
    let interface: CallInterface
    /// The address of each C argument.
    let arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// The memory for the result: a word.
    let result: UnsafeMutableRawPointer
    let tables: BoundaryTables

    /// The result as a word.
    var word: Int {
        get { result.loadUnaligned(as: Int.self) }
        nonmutating set { result.storeBytes(of: newValue, as: Int.self) }
    }

    /// Calls the real host's function.
    func perform() {
        guard let real = tables.real(function) else { return }
        interface.call(real, arguments, result: result)
    }
}

/// The function tables that an extension receives instead of the host's own. Each function passes
/// its call to a handler. The tables are never freed, because an extension may keep the pointers.
///
/// They must be created before the seccomp filter is applied, because the filter forbids new code.
/// Afterwards the functions' code is read-only. The tables are not: an extension that writes to
/// them spoils its own recording.
///
/// `@unchecked Sendable`: all memory is written in `init` and only read afterwards. ``handler`` is
/// set before the extension is loaded, and only read by the extension's calls.
final class BoundaryTables: @unchecked Sendable {
    /// The offset of a table's functions, after its size and a reserved field.
    private static let headBytes = 8
    private static let pointerBytes = MemoryLayout<UnsafeRawPointer>.size

    private let real: [UInt8: UnsafeMutableRawPointer]
    private var tables: [String: UnsafeRawPointer] = [:]
    private var functions: [UInt8: (code: UnsafeMutableRawPointer, interface: CallInterface)] = [:]
    /// The object that handles the calls; it is kept as long as the process runs.
    var handler: (any BoundaryHandler)?
    /// `searchlight_host.get_interface`
    private(set) var getInterface: HostTables.InterfaceFunction?

    /// Creates the tables.
    ///
    /// - Throws: ``LoadError`` if there is no memory for the functions.
    init() throws(LoadError) {
        var real: [UInt8: UnsafeMutableRawPointer] = [:]
        for interface in BoundaryInterface.all {
            guard let table = hostTable(interface.identifier) else { continue }
            for (position, function) in interface.functions.enumerated() {
                let offset = Self.headBytes + position * Self.pointerBytes
                real[function.number] = table.load(fromByteOffset: offset, as: UnsafeMutableRawPointer?.self)
            }
        }
        self.real = real
        do throws(BindingFailure) {
            for interface in BoundaryInterface.all {
                let count = Self.headBytes + interface.functions.count * Self.pointerBytes
                let table = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: Self.pointerBytes)
                table.storeBytes(of: UInt32(count), as: UInt32.self)
                table.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
                for (position, function) in interface.functions.enumerated() {
                    let code = try prepare(function)
                    table.storeBytes(
                        of: code, toByteOffset: Self.headBytes + position * Self.pointerBytes,
                        as: UnsafeMutableRawPointer.self)
                }
                tables[interface.identifier] = UnsafeRawPointer(table)
            }
            getInterface = unsafeBitCast(
                try prepare(BoundaryInterface.getInterface), to: HostTables.InterfaceFunction.self)
            try protect()
        } catch {
            throw LoadError(failure: .cannotCreate, message: "The calls cannot be recorded: \(error.message).")
        }
    }

    /// Creates a function that passes its calls to the handler.
    private func prepare(_ function: BoundaryFunction) throws(BindingFailure) -> UnsafeMutableRawPointer {
        let interface = try CallInterface(
            function.parameters.flatMap(\.native), result: function.result.native)
        let closure = try Closure.make(interface) { [self] result, arguments in
            guard let arguments else { return }
            // libffi provides room for a word, even if there is no result.
            handler?.handle(
                BoundaryCall(
                    function: function, interface: interface, arguments: arguments, result: result, tables: self))
        }
        functions[function.number] = (closure.code, interface)
        return closure.code
    }

    /// Makes the functions' code read-only, so that the extension cannot change it.
    private func protect() throws(BindingFailure) {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        for (code, _) in functions.values {
            let start = UInt(bitPattern: code) & ~(page - 1)
            let end = (UInt(bitPattern: code) + UInt(MemoryLayout<ffi_closure>.size) + page - 1) & ~(page - 1)
            guard mprotect(UnsafeMutableRawPointer(bitPattern: start), Int(end - start), PROT_READ | PROT_EXEC) == 0
            else { throw BindingFailure(.failed, "their code cannot be protected") }
        }
    }

    /// Returns the table of an interface; `nil` if the host has none.
    func table(_ identifier: String) -> UnsafeRawPointer? { hostTable(identifier) == nil ? nil : tables[identifier] }

    /// Returns the real host's function.
    func real(_ function: BoundaryFunction) -> UnsafeMutableRawPointer? { real[function.number] }

    /// Returns the function that passes its calls to the handler.
    func recorded(_ function: BoundaryFunction) -> (code: UnsafeMutableRawPointer, interface: CallInterface)? {
        functions[function.number]
    }
}

extension BoundaryFunction.Parameter {
    /// The C arguments.
    var native: [NativeType] {
        switch self {
        case .host, .object, .text, .message, .preview: [.pointer]
        case .request: [.scalar(.u64)]
        case .texts, .items, .bytes: [.pointer, .scalar(.u64)]
        case .textPairs: [.pointer, .pointer, .scalar(.u64)]
        case .int32: [.scalar(.i32)]
        case .uint32: [.scalar(.u32)]
        case .int64: [.scalar(.i64)]
        case .double: [.scalar(.f64)]
        case .callback: [.pointer, .pointer]
        }
    }
}

extension BoundaryFunction.Result {
    var native: NativeType {
        switch self {
        case .none: .void
        case .int32: .scalar(.i32)
        case .object, .table: .pointer
        }
    }
}

/// The host's call into the extension on this thread, to which the extension's calls belong.
enum CurrentHostCall {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The number of the call; 0 if the thread belongs to the extension.
    static var number: UInt32 { UInt32(truncatingIfNeeded: UInt(bitPattern: pthread_getspecific(key))) }

    /// Runs a closure as a call by the host.
    static func with<Result>(_ number: UInt32, _ body: () -> Result) -> Result {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(number)))
        defer { pthread_setspecific(key, outer) }
        return body()
    }
}
