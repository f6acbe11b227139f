// SPDX-License-Identifier: Apache-2.0
import SymbolBindings

/// One binding while it is carried out for one request: fills parameters, calls, and reads what came back. Of one thread.
final class BindingRun {
    private let prepared: [PreparedCall]
    private var evaluation: Evaluation
    private let receiver: any CallbackReceiver
    private var frame: CallFrame { evaluation.sources.frame }

    init(_ calls: [PreparedCall], sources: RequestSources, receiver: any CallbackReceiver) {
        prepared = calls
        evaluation = Evaluation(sources: sources)
        self.receiver = receiver
    }

    /// Makes all calls.
    func perform() throws(BindingFailure) {
        for call in prepared { try perform(call) }
    }

    /// A value after the calls.
    func value(_ value: BoundValue) throws(BindingFailure) -> RuntimeValue { try evaluation.value(value) }

    private func perform(_ prepared: PreparedCall) throws(BindingFailure) {
        let call = prepared.call
        let word = MemoryLayout<UnsafeMutableRawPointer>.size
        let arguments = try frame.allocate((call.parameters.count + 1) * word)
            .bindMemory(to: UnsafeMutableRawPointer?.self, capacity: call.parameters.count + 1)
        var answers = CallAnswers()
        for (position, parameter) in call.parameters.enumerated() {
            let layout = prepared.interface.parameters[position]
            let place = try frame.allocate(max(layout.size, word))
            arguments[position] = place
            switch parameter.form {
            case .out(let form):
                let size = prepared.written[position]?.size ?? 0
                let target = try frame.allocate(max(size, word))
                place.storeBytes(of: target, as: UnsafeMutableRawPointer?.self)
                answers.add(parameter.name, form, at: target, layout: prepared.written[position], isReturned: false)
            case .inOut(let type, let value):
                let target = try frame.allocate(word)
                try type.store(try evaluation.value(value), at: target, parameter.name)
                place.storeBytes(of: target, as: UnsafeMutableRawPointer?.self)
                answers.add(parameter.name, .scalar(type), at: target, layout: nil, isReturned: false)
            case .callback(let callback):
                let closure = try closure(callback, prepared.callbacks[position], of: call.symbol)
                place.storeBytes(of: closure.code, as: UnsafeMutableRawPointer?.self)
            default: try fill(parameter, at: place, layout, named: parameter.name)
            }
        }
        let result = try frame.allocate(prepared.interface.resultBytes)
        prepared.interface.call(prepared.function, arguments, result: result)
        if let returned = call.returned {
            answers.add(returned.name, returned.form, at: result, layout: prepared.interface.result, isReturned: true)
        }
        try read(answers, of: prepared)
    }

    // MARK: What is passed

    private func fill(
        _ parameter: BoundParameter, at place: UnsafeMutableRawPointer, _ layout: NativeLayout, named name: String
    ) throws(BindingFailure) {
        func pass(_ pointer: UnsafeMutableRawPointer?, _ value: RuntimeValue) {
            place.storeBytes(of: pointer, as: UnsafeMutableRawPointer?.self)
            evaluation.names[name] = value
        }
        switch parameter.form {
        case .scalar(let type, let source):
            let value = try evaluation.value(source)
            try type.store(value, at: place, name)
            evaluation.names[name] = value
        case .text(let source):
            let value = try evaluation.value(source)
            if case .text(let text) = value { pass(try frame.cString(text, name), value) } else { pass(nil, .null) }
        case .texts(let source):
            guard case .texts(let texts) = try evaluation.value(source) else {
                throw BindingFailure(.failed, "\(name) is not several texts")
            }
            pass(try array(of: texts, name), .texts(texts))
        case .bytes(let source): try passBytes(try evaluation.value(source), name, pass)
        case .pointer(let source):
            let value = try evaluation.value(source)
            if case .pointer(let pointer) = value { pass(pointer, value) } else { pass(nil, .null) }
        case .buffer(let length):
            let count = try RuntimeValue.check(try evaluation.integer(length), "the buffer \(name)")
            let memory = try frame.allocate(count)
            pass(memory, .bytes(UnsafeRawBufferPointer(start: memory, count: count)))
        case .structure(let fields):
            for (position, field) in fields.enumerated() {
                try fill(
                    field, at: place + layout.offsets[position], layout.fields[position], named: name + "." + field.name
                )
            }
        case .out, .inOut, .callback: break
        }
    }

    private func passBytes(
        _ value: RuntimeValue, _ name: String, _ pass: (UnsafeMutableRawPointer?, RuntimeValue) -> Void
    ) throws(BindingFailure) {
        switch value {
        case .bytes(let memory): pass(UnsafeMutableRawPointer(mutating: memory.baseAddress), value)
        case .text(let text):
            let copy = try frame.copy(text.utf8)
            pass(copy.baseAddress, .bytes(UnsafeRawBufferPointer(copy)))
        default: pass(nil, .null)
        }
    }

    /// An array of C strings with a NULL at its end.
    private func array(of texts: [String], _ name: String) throws(BindingFailure) -> UnsafeMutableRawPointer {
        let word = MemoryLayout<UnsafeMutableRawPointer>.size
        let array = try frame.allocate((texts.count + 1) * word)
        for (position, text) in texts.enumerated() {
            (array + position * word).storeBytes(
                of: try frame.cString(text, name), as: UnsafeMutableRawPointer?.self)
        }
        return array
    }

    private func closure(
        _ callback: BoundCallback, _ interface: CallInterface?, of symbol: String
    ) throws(BindingFailure) -> Closure {
        guard let interface else { throw BindingFailure(.failed, "\(symbol) has a callback that was not prepared") }
        let calling = CallbackBody(
            callback: callback, symbol: symbol, bundlePath: evaluation.sources.bundlePath, receiver: receiver)
        return try Closure.make(interface) { result, arguments in calling.run(result, arguments) }
    }

    // MARK: What comes back

    private func read(_ answers: CallAnswers, of prepared: PreparedCall) throws(BindingFailure) {
        let call = prepared.call
        // First of all, so that nothing is lost whatever is wrong with the rest.
        for answer in answers.pointers {
            guard let name = answer.form.freedBy, let function = prepared.freeing[name], let pointer = answer.pointer
            else { continue }
            frame.own(pointer, freedBy: function)
        }
        for (name, value) in answers.numbers { evaluation.names[name] = value }
        // What a function that failed says of addresses means nothing; a condition may still ask whether there is one.
        for answer in answers.pointers where answer.name != "_" {
            evaluation.names[answer.name] = answer.pointer.map { .pointer($0) } ?? .null
        }
        if let success = call.success { try check(success, answers, prepared) }
        for answer in answers.pointers where answer.name != "_" {
            evaluation.names[answer.name] = try value(of: answer, from: call.symbol)
        }
    }

    private func check(
        _ success: BoundCondition, _ answers: CallAnswers, _ prepared: PreparedCall
    ) throws(BindingFailure) {
        // Texts can be compared, so those that are asked about are read before.
        let asked = success.names
        for answer in answers.pointers where asked.contains(answer.name) && answer.pointer != nil {
            evaluation.names[answer.name] = try value(of: answer, from: prepared.call.symbol)
        }
        guard try !evaluation.holds(success) else { return }
        let facts = asked.sorted().compactMap { name in
            evaluation.names[name].map { "\(name) is \(Self.shown($0))" }
        }
        var message = "\(prepared.call.symbol) did not succeed: \(facts.joined(separator: ", "))"
        if let explanation = prepared.explanation, let words = try? explain(explanation) { message += ": \(words)" }
        throw BindingFailure(.failed, message)
    }

    private func explain(_ prepared: PreparedCall) throws(BindingFailure) -> String? {
        let before = evaluation.names
        defer { evaluation.names = before }
        try perform(prepared)
        guard let name = prepared.call.returned?.name, case .text(let words)? = evaluation.names[name] else {
            return nil
        }
        return String(words.prefix(500))
    }

    private static func shown(_ value: RuntimeValue) -> String {
        switch value {
        case .text(let text): String(text.prefix(200)).debugDescription
        case .pointer: "an address"
        default: value.words
        }
    }

    private func value(of answer: CallAnswers.Pointer, from symbol: String) throws(BindingFailure) -> RuntimeValue {
        guard let pointer = answer.pointer else {
            guard answer.form.isOptional else {
                throw BindingFailure(.failed, "\(symbol) gave NULL for \(answer.name)")
            }
            return .null
        }
        return try answer.form.read(pointer, "\(answer.name) of \(symbol)") { (count) throws(BindingFailure) in
            try evaluation.integer(count)
        }
    }
}

extension BoundCondition {
    /// The names it asks about.
    var names: Set<String> {
        comparisons.reduce(into: []) { names, comparison in
            names.formUnion(comparison.left.names)
            names.formUnion(comparison.right.names)
        }
    }
}

extension BoundValue {
    fileprivate var names: Set<String> {
        switch self {
        case .name(let name): [name]
        case .slice(let name, let count): count.names.union([name])
        case .function(_, let value): value.names
        case .arithmetic(_, let left, let right): left.names.union(right.names)
        default: []
        }
    }
}
