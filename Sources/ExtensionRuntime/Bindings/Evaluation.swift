// SPDX-License-Identifier: Apache-2.0
import SymbolBindings

/// The evaluation of a binding's values, or of the values in one callback. Confined to one thread.
struct Evaluation {
    let sources: RequestSources
    /// The memory for values: the request's frame or, in a repetition, the round's frame.
    var frame: CallFrame
    var names: [String: RuntimeValue] = [:]

    init(sources: RequestSources) {
        self.sources = sources
        frame = sources.frame
    }

    func value(_ value: BoundValue) throws(BindingFailure) -> RuntimeValue {
        switch value {
        case .integer(let number): return .integer(number)
        case .float(let number): return .float(number)
        case .text(let text): return .text(text)
        case .texts(let texts): return .texts(texts)
        case .null: return .null
        case .source(let source): return try sources.value(source)
        case .attribute(let form, let name, let fallback):
            if let found = try sources.attribute(form, name) { return found }
            guard let fallback else {
                throw BindingFailure(
                    .notFound, "the item has no attribute \(name) of this kind, and the binding has no default")
            }
            return try self.value(fallback)
        case .name(let name):
            guard let found = names[name] else { throw BindingFailure(.failed, "\(name) has no value") }
            return found
        case .slice(let name, let count): return .bytes(try slice(name, try integer(count)))
        case .function(let function, let inner): return try apply(function, try self.value(inner))
        case .arithmetic(let sign, let left, let right):
            return .integer(try compute(sign, try integer(left), try integer(right)))
        }
    }

    func integer(_ value: BoundValue) throws(BindingFailure) -> Int128 {
        guard case .integer(let number) = try self.value(value) else {
            throw BindingFailure(.failed, "\(value) is not a whole number")
        }
        return number
    }

    /// Returns the start of a buffer, with the length that a function reported.
    private func slice(_ name: String, _ count: Int128) throws(BindingFailure) -> UnsafeRawBufferPointer {
        guard case .bytes(let memory)? = names[name] else { throw BindingFailure(.failed, "\(name) has no value") }
        guard count >= 0, count <= Int128(memory.count) else {
            throw BindingFailure(
                .failed, "the function reports \(count) bytes in \(name), which has \(memory.count)")
        }
        return UnsafeRawBufferPointer(rebasing: memory[..<Int(count)])
    }

    private func compute(
        _ sign: BoundValue.Operator, _ left: Int128, _ right: Int128
    ) throws(BindingFailure) -> Int128 {
        let (result, overflow) =
            switch sign {
            case .plus: left.addingReportingOverflow(right)
            case .minus: left.subtractingReportingOverflow(right)
            case .times: left.multipliedReportingOverflow(by: right)
            case .divided: left.dividedReportingOverflow(by: right)
            }
        guard !overflow else {
            throw BindingFailure(.failed, "\(left) \(sign.rawValue) \(right) cannot be computed")
        }
        return result
    }

    private func apply(_ function: BoundValue.Function, _ value: RuntimeValue) throws(BindingFailure) -> RuntimeValue {
        switch (function, value) {
        case (.length, .text(let text)): return .integer(Int128(text.utf8.count))
        case (.length, .texts(let texts)): return .integer(Int128(texts.count))
        case (.length, .bytes(let memory)): return .integer(Int128(memory.count))
        case (.length, .null): return .integer(0)
        case (.path, .text(let path)):
            if let rest = FileURL.inTemporaryFolder(path) { return .text(try sources.frame.temporaryFolder() + rest) }
            guard let path = FileURL.expanded(path) else {
                throw BindingFailure(
                    .invalidArgument,
                    "\(path) is not an absolute path and does not begin with ~, $TMPDIR or $XDG_…_HOME")
            }
            return .text(path)
        case (.name, .text(let path)): return .text(Self.lastPart(path))
        case (.suffix, .text(let path)):
            return .text(Self.suffix(path))
        case (.type, .text(let path)):
            return .text(sources.bundle.types[Self.suffix(path).lowercased()] ?? "public.data")
        case (.hidden, .text(let path)): return .integer(FileURL.isHidden(path) ? 1 : 0)
        case (.contents, .text(let path)): return .bytes(try frame.contents(of: path))
        case (.text, .bytes(let memory)): return .text(String(decoding: memory, as: UTF8.self))
        case (.text, .text(let text)): return .text(text)
        case (.text, .null): return .text("")
        case (.url, .text(let path)): return .url(path)
        case (.date, _):
            guard let seconds = value.number else { break }
            return .date(seconds)
        case (.file, .text(let path)): return .file(path)
        default: break
        }
        throw BindingFailure(.failed, "\(function.rawValue)(…) has no input")
    }

    private static func suffix(_ path: String) -> String {
        let parts = lastPart(path).split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 ? String(parts[parts.count - 1]) : ""
    }

    private static func lastPart(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    // MARK: Conditions

    func holds(_ condition: BoundCondition) throws(BindingFailure) -> Bool {
        for comparison in condition.comparisons where try holds(comparison) == condition.isAny {
            return condition.isAny
        }
        return !condition.isAny
    }

    private func holds(_ comparison: BoundCondition.Comparison) throws(BindingFailure) -> Bool {
        let left = try value(comparison.left)
        let right = try value(comparison.right)
        switch comparison.relation {
        case .equal: return Self.equal(left, right)
        case .unequal: return !Self.equal(left, right)
        case .greater, .atLeast:
            if case .integer(let left) = left, case .integer(let right) = right {
                return comparison.relation == .greater ? left > right : left >= right
            }
            guard let left = left.number, let right = right.number else { return false }
            return comparison.relation == .greater ? left > right : left >= right
        }
    }

    private static func equal(_ left: RuntimeValue, _ right: RuntimeValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.null, .null): true
        default: left.number.flatMap { left in right.number.map { left == $0 } } ?? false
        }
    }
}
