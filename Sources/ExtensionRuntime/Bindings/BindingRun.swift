// SPDX-License-Identifier: Apache-2.0
import SymbolBindings

/// The execution of one binding for one request: it fills in parameters, makes the calls, and reads
/// the results. Confined to one thread.
final class BindingRun {
    private let prepared: PreparedCalls
    private var evaluation: Evaluation
    private let receiver: any CallbackReceiver
    /// `true` to skip failed rounds of a repetition, and rounds beyond a limit, with a warning.
    /// `false` to fail the request instead.
    private let leavesOut: Bool
    private var frame: CallFrame { evaluation.frame }

    init(
        _ calls: PreparedCalls, sources: RequestSources, receiver: any CallbackReceiver, leavesOut: Bool = false
    ) {
        prepared = calls
        evaluation = Evaluation(sources: sources)
        self.receiver = receiver
        self.leavesOut = leavesOut
    }

    /// Makes all calls.
    func perform() throws(BindingFailure) {
        for call in prepared.calls { try perform(call) }
        if let repetition = prepared.repetition { try perform(repetition) }
    }

    /// Returns a value after the calls were made.
    func value(_ value: BoundValue) throws(BindingFailure) -> RuntimeValue { try evaluation.value(value) }

    // MARK: Repetition

    private func perform(_ repetition: BoundRepetition) throws(BindingFailure) {
        let wanted = try evaluation.integer(repetition.count)
        guard wanted >= 0 else { throw BindingFailure(.failed, "the number of rounds is negative, \(wanted)") }
        let count = Int(min(wanted, Int128(BindingLimits.rounds)))
        if wanted > Int128(count) {
            try leaveOut(
                BindingFailure(.tooLarge, "only the first \(count) of \(wanted) rounds (“\(repetition.name)”) run")
            )
        }
        var texts = [String](repeating: "", count: repetition.gathered.count)
        var failed = 0
        var firstFailure: BindingFailure?
        rounds: for number in 0..<count {
            guard !receiver.isOver else { throw BindingFailure(.cancelled, "the request was cancelled") }
            // A large document takes long. Progress reports keep the watchdog from terminating the
            // worker.
            receiver.report(completed: UInt64(number), total: UInt64(count))
            let lines: [String]
            do throws(BindingFailure) { lines = try round(number, of: repetition) } catch {
                guard leavesOut else { throw error }
                failed += 1
                firstFailure = firstFailure ?? error
                continue
            }
            for (position, line) in lines.enumerated() {
                guard Self.append(line, to: &texts[position]) else {
                    try leaveOut(
                        BindingFailure(
                            .tooLarge,
                            "\(repetition.gathered[position].name) ends in round \(number + 1) of \(count), because the "
                                + "limit is \(BindingLimits.gatheredBytes) bytes"))
                    break rounds
                }
            }
        }
        if let firstFailure {
            guard failed < count else { throw firstFailure }
            receiver.warn("\(failed) of \(count) rounds (“\(repetition.name)”) are skipped: \(firstFailure.message)")
        }
        for (one, text) in zip(repetition.gathered, texts) { evaluation.names[one.name] = .text(text) }
    }

    private func leaveOut(_ failure: BindingFailure) throws(BindingFailure) {
        guard leavesOut else { throw failure }
        receiver.warn(failure.message)
    }

    /// Makes the calls of one round. The round's memory and names are released at its end.
    ///
    /// - Returns: The gathered texts, one for each element of ``BoundRepetition/gathered``.
    private func round(_ number: Int, of repetition: BoundRepetition) throws(BindingFailure) -> [String] {
        let before = evaluation
        evaluation.frame = CallFrame()
        defer { evaluation = before }
        evaluation.names[repetition.name] = .integer(Int128(number))
        for call in prepared.repeated { try perform(call) }
        var lines: [String] = []
        for one in repetition.gathered {
            if case .text(let line) = try evaluation.value(one.value) { lines.append(line) } else { lines.append("") }
        }
        return lines
    }

    /// Appends a line to a text, truncated at ``BindingLimits/gatheredBytes``.
    ///
    /// - Returns: `true` if the whole line fitted.
    private static func append(_ line: String, to text: inout String) -> Bool {
        let room = BindingLimits.gatheredBytes - text.utf8.count - 1
        guard line.utf8.count > room else {
            if !text.isEmpty, !line.isEmpty { text += "\n" }
            text += line
            return true
        }
        guard room > 0 else { return false }
        var end = line.utf8.index(line.startIndex, offsetBy: room)
        while end > line.startIndex, UTF8.isContinuation(line.utf8[end]) { end = line.utf8.index(before: end) }
        text += (text.isEmpty ? "" : "\n") + line[..<end]
        return false
    }

    // MARK: One call

    private func perform(_ prepared: PreparedCall) throws(BindingFailure) {
        let call = prepared.call
        let before = evaluation.names
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
        LibraryMemory.duringCall { prepared.interface.call(prepared.function, arguments, result: result) }
        if let returned = call.returned {
            answers.add(returned.name, returned.form, at: result, layout: prepared.interface.result, isReturned: true)
        }
        try read(answers, of: prepared)
        // The call's parameters are only visible within the call itself.
        for name in prepared.localNames { evaluation.names[name] = before[name] }
    }

    // MARK: Arguments

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

    /// Returns an array of C strings that ends with NULL.
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
            callback: callback, symbol: symbol, bundle: evaluation.sources.bundle, receiver: receiver)
        return try Closure.make(interface) { result, arguments in calling.run(result, arguments) }
    }

    // MARK: Results

    private func read(_ answers: CallAnswers, of prepared: PreparedCall) throws(BindingFailure) {
        let call = prepared.call
        // Registered first, so that no allocation leaks if a later step fails.
        for answer in answers.pointers {
            guard let name = answer.form.freedBy, let function = prepared.freeing[name], let pointer = answer.pointer
            else { continue }
            frame.own(pointer, freedBy: function)
        }
        for (name, value) in answers.numbers { evaluation.names[name] = value }
        // The addresses returned by a failed function are not valid, but a condition may compare
        // them with NULL.
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
        // Conditions can compare texts, so the texts in the condition are read first.
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
                throw BindingFailure(.failed, "\(symbol) returned NULL for \(answer.name)")
            }
            return .null
        }
        return try answer.form.read(pointer, "\(answer.name) of \(symbol)") { (count) throws(BindingFailure) in
            try evaluation.integer(count)
        }
    }
}

extension BoundCondition {
    /// The names in the condition.
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
