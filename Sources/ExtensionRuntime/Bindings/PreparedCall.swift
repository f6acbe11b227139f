// SPDX-License-Identifier: Apache-2.0
import SymbolBindings

/// A call in a binding, with its function and layouts resolved before the first request.
///
/// `@unchecked Sendable`: the addresses belong to functions in libraries that are never unloaded.
final class PreparedCall: @unchecked Sendable {
    let call: BoundCall
    let function: UnsafeMutableRawPointer
    let interface: CallInterface
    /// The functions that free results, by name.
    let freeing: [String: UnsafeMutableRawPointer]
    let callbacks: [Int: CallInterface]
    /// The layouts of structs that the function writes, by parameter position.
    let written: [Int: NativeLayout]
    let explanation: PreparedCall?
    /// The names that are only visible within the call.
    let localNames: [String]

    init(_ call: BoundCall, in library: BoundLibrary) throws(LoadError) {
        self.call = call
        // The explanation's text may have the same name as a parameter.
        localNames = call.localNames.filter { $0 != call.returned?.name }
        function = try library.function(call.symbol)
        var freeing: [String: UnsafeMutableRawPointer] = [:]
        var callbacks: [Int: CallInterface] = [:]
        var written: [Int: NativeLayout] = [:]
        var owners: Set<String> = call.returned?.form.owners ?? []
        do throws(BindingFailure) {
            for (position, parameter) in call.parameters.enumerated() {
                switch parameter.form {
                case .callback(let callback):
                    callbacks[position] = try CallInterface(
                        callback.parameters.map(\.form.native),
                        result: callback.returned.map { .scalar($0.type) } ?? .void)
                case .out(let form):
                    written[position] = try NativeLayout(form.native)
                    owners.formUnion(form.owners)
                default: break
                }
            }
            interface = try CallInterface(
                call.parameters.map(\.form.native), result: call.returned?.form.native ?? .void)
        } catch {
            throw LoadError(failure: .cannotCreate, message: "\(call.symbol) cannot be called: \(error.message).")
        }
        for name in owners { freeing[name] = try library.function(name) }
        self.freeing = freeing
        self.callbacks = callbacks
        self.written = written
        explanation = try call.explanation.first.map { (call) throws(LoadError) in try PreparedCall(call, in: library) }
    }
}

/// A binding's calls, ready to run.
struct PreparedCalls: Sendable {
    let calls: [PreparedCall]
    /// The repetition after the calls.
    let repetition: BoundRepetition?
    let repeated: [PreparedCall]

    init(_ binding: SymbolBinding, in library: BoundLibrary) throws(LoadError) {
        func prepared(_ calls: [BoundCall]) throws(LoadError) -> [PreparedCall] {
            var prepared: [PreparedCall] = []
            for call in calls { prepared.append(try PreparedCall(call, in: library)) }
            return prepared
        }
        calls = try prepared(binding.calls)
        repetition = binding.repetition
        repeated = try prepared(binding.repetition?.calls ?? [])
    }
}

/// A binding that is ready to run, or the error that prevents it.
struct PreparedBinding: Sendable {
    let binding: SymbolBinding
    let calls: Result<PreparedCalls, LoadError>

    init(_ binding: SymbolBinding, library: Result<BoundLibrary, LoadError>) {
        self.binding = binding
        calls = Result { () throws(LoadError) in try PreparedCalls(binding, in: try library.get()) }
    }
}

extension BoundParameter.Form {
    var native: NativeType {
        switch self {
        case .scalar(let type, _): .scalar(type)
        case .structure(let fields): .structure(fields.map(\.form.native))
        case .text, .texts, .bytes, .pointer, .buffer, .out, .inOut, .callback: .pointer
        }
    }
}

extension BoundResult.Form {
    var native: NativeType {
        switch self {
        case .scalar(let type): .scalar(type)
        case .pointed: .pointer
        case .structure(let fields): .structure(fields.map(\.form.native))
        }
    }

    /// The functions that free parts of the result.
    var owners: Set<String> {
        switch self {
        case .scalar: []
        case .pointed(let pointer): pointer.freedBy.map { [$0] } ?? []
        case .structure(let fields): fields.reduce(into: []) { $0.formUnion($1.form.owners) }
        }
    }
}
