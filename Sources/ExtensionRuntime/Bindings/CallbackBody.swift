// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ServiceMessages
import SymbolBindings

/// Receives a library's callbacks. Called on any thread, at any time.
protocol CallbackReceiver: Sendable {
    /// Ends the request, with success or a failure.
    func acknowledge(_ failure: BindingFailure?)
    func report(completed: UInt64, total: UInt64)
    func donate(_ item: ItemRecord)
    /// Returns `true` if an item is wanted. Called before the rest of the item is read.
    func wants(_ identifier: String) -> Bool
    /// `true` if the request was completed or cancelled.
    var isOver: Bool { get }
    /// Reports to the author that something was omitted.
    func warn(_ message: String)
    /// Reports to the user that an item lacks some of its attributes.
    func leaveOut(_ what: LeftOut)
    /// Reports that the library broke a rule.
    func misuse(_ rule: HostRequest.Misuse, _ message: String)
}

/// The body of one callback.
struct CallbackBody: Sendable {
    let callback: BoundCallback
    /// The function that the callback was passed to.
    let symbol: String
    let bundle: BoundBundle
    let receiver: any CallbackReceiver

    /// Runs within the library's call.
    func run(_ result: UnsafeMutableRawPointer, _ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) {
        if let returned = callback.returned {
            // libffi expects a whole word.
            result.storeBytes(of: UInt(truncatingIfNeeded: returned.value), as: UInt.self)
        }
        do throws(BindingFailure) {
            try LibraryMemory.duringCallback { () throws(BindingFailure) in try perform(try evaluation(arguments)) }
        } catch {
            let words = "a callback of \(symbol) (\(callback.role.rawValue)): \(error.message)"
            receiver.misuse(error.status == .invalidArgument ? .invalidArgument : .malformedText, words)
            // No further call will follow, so the failure is reported to the waiting request.
            if callback.role == .acknowledge { receiver.acknowledge(BindingFailure(.failed, words)) }
        }
    }

    private func evaluation(
        _ arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) throws(BindingFailure) -> Evaluation {
        var evaluation = Evaluation(sources: RequestSources(bundle: bundle))
        var pointers: [(BoundResult, BoundPointer, UnsafeMutableRawPointer)] = []
        for (position, parameter) in callback.parameters.enumerated() {
            guard let place = arguments?[position] else { continue }
            switch parameter.form {
            case .scalar(let type): evaluation.names[parameter.name] = type.load(place)
            case .pointed(let form):
                guard let pointer = place.loadUnaligned(as: UnsafeMutableRawPointer?.self) else {
                    guard form.isOptional else {
                        throw BindingFailure(.invalidArgument, "\(parameter.name) is NULL")
                    }
                    evaluation.names[parameter.name] = .null
                    continue
                }
                pointers.append((parameter, form, pointer))
            case .structure: continue
            }
        }
        // Read after all numbers, which may be the lengths of texts and byte arrays.
        for (parameter, form, pointer) in pointers where parameter.name != "_" {
            let numbers = evaluation
            evaluation.names[parameter.name] = try form.read(pointer, parameter.name) {
                (count) throws(BindingFailure) in
                try numbers.integer(count)
            }
        }
        return evaluation
    }

    private func perform(_ evaluation: Evaluation) throws(BindingFailure) {
        switch callback.role {
        case .acknowledge:
            guard let condition = callback.condition, try !evaluation.holds(condition) else {
                return receiver.acknowledge(nil)
            }
            let facts = condition.names.sorted().compactMap { name in
                evaluation.names[name].map { "\(name) is \($0.words)" }
            }
            receiver.acknowledge(
                BindingFailure(.failed, "\(symbol) reported a failure: \(facts.joined(separator: ", "))"))
        case .progress:
            if let condition = callback.condition, try !evaluation.holds(condition) { return }
            var (completed, total) = (UInt64(0), UInt64(0))
            for assignment in callback.assignments {
                let number = UInt64(clamping: try evaluation.integer(assignment.value))
                if assignment.name == "total" { total = number } else { completed = number }
            }
            receiver.report(completed: completed, total: total)
        case .donate:
            if let condition = callback.condition, try !evaluation.holds(condition) { return }
            if let item = try item(evaluation) { receiver.donate(item) }
        }
    }

    /// Returns the item; `nil` if it is not wanted.
    private func item(_ evaluation: Evaluation) throws(BindingFailure) -> ItemRecord? {
        var record = ItemRecord(uniqueIdentifier: "")
        if let assignment = callback.assignments.first(where: { $0.name == "identifier" }),
            case .text(let identifier) = try evaluation.value(assignment.value)
        {
            guard receiver.wants(identifier) else { return nil }
            record.uniqueIdentifier = identifier
        }
        // Items donated by a binding do not expire; they are kept until the next reindex.
        record.expiration = .never
        for assignment in callback.assignments where assignment.name != "identifier" {
            let value: RuntimeValue
            do throws(BindingFailure) { value = try evaluation.value(assignment.value) } catch {
                // An item that lacks an attribute is better than no item.
                receiver.warn("\(assignment.name) of an item from \(symbol) is skipped: \(error.message)")
                receiver.leaveOut(
                    LeftOut(name: record.uniqueIdentifier, reason: "its \(assignment.name) cannot be determined"))
                continue
            }
            switch (assignment.name, value) {
            case ("domain", .text(let text)): record.domainIdentifier = text
            case (let name, _): if let attribute = try AttributeValue(value) { record.attributes[name] = attribute }
            }
        }
        guard !record.uniqueIdentifier.isEmpty else {
            throw BindingFailure(.invalidArgument, "an item has no identifier")
        }
        return record
    }
}
