// SPDX-License-Identifier: Apache-2.0

/// The names that are defined at a position in a binding, with records of their use.
///
/// Results are visible in their call and after it. They are return values, and values that
/// functions write to `out`, `inout` and `buffer` parameters. Other parameters are visible only in
/// their own call, where they hide a result with the same name.
struct BindingScope {
    struct Entry {
        var kind: ValueKind
        /// The position of the definition.
        var offset: Int
        /// The advice to give if the name is never used; `nil` if it need not be used.
        var use: String?
        var isUsed = false
        /// `true` if the name is a buffer, of which a part can be used.
        var isBuffer = false
    }
    private(set) var entries: [String: Entry] = [:]
    /// The names, in definition order.
    private var order: [String] = []
    /// The parameters of the current call.
    private var parameters: [String: Entry] = [:]
    /// All names defined by the current call.
    private var ownNames: Set<String> = []
    /// The parameters of earlier calls, for error messages.
    private var formerParameters: Set<String> = []

    /// `true` if names may be used before they are defined: a length often follows the value to
    /// which it belongs.
    var looksAhead = false
    /// The names that were used before their definition, with their positions.
    private var awaited: [(name: String, offset: Int)] = []

    /// Words with a predefined meaning.
    private static let reserved: Set<String> = ["item", "request", "bundle", "null"]

    /// Defines a name. If `use` is given, a name that is never used is an error.
    mutating func add(
        _ name: String, _ kind: ValueKind, at offset: Int, use: String? = nil, isBuffer: Bool = false,
        isParameter: Bool = false, in scanner: BindingScanner
    ) throws(BindingError) {
        guard name != "_" else { return }
        guard !Self.reserved.contains(name) else {
            throw scanner.error(at: offset, "“\(name)” is reserved", "Choose another name")
        }
        guard ownNames.insert(name).inserted, isParameter || entries[name] == nil else {
            throw scanner.error(
                at: offset, "“\(name)” is defined twice", "Rename one of them")
        }
        let entry = Entry(kind: kind, offset: offset, use: use, isBuffer: isBuffer)
        if isParameter {
            parameters[name] = entry
        } else {
            entries[name] = entry
            order.append(name)
        }
    }

    /// Returns the entry of a name and marks it as used.
    mutating func use(_ name: String, at offset: Int, in scanner: BindingScanner) throws(BindingError) -> Entry {
        if let parameter = parameters[name] { return parameter }
        guard let entry = entries[name] else {
            if looksAhead {
                awaited.append((name, offset))
                return Entry(kind: .integer, offset: offset)
            }
            throw scanner.error(at: offset, "There is no “\(name)” here", advice(on: name))
        }
        entries[name]?.isUsed = true
        return entry
    }

    private func advice(on name: String) -> String {
        let fields = (order + parameters.keys.sorted()).filter { $0.hasPrefix(name + ".") }.prefix(4)
        guard fields.isEmpty else { return "Name one of its fields: \(fields.joined(separator: ", "))" }
        guard !formerParameters.contains(name) else {
            return "A parameter is known only in its own call; name a result, or the value of the parameter"
        }
        return "Name an earlier result, a parameter of the same call, or a value such as item.contents"
    }

    /// Ends the lookahead: the names that were used must be defined by now.
    mutating func settle(in scanner: BindingScanner) throws(BindingError) {
        looksAhead = false
        for (name, offset) in awaited {
            let entry = try use(name, at: offset, in: scanner)
            guard entry.kind == .integer else {
                throw scanner.error(
                    at: offset, "“\(name)” is \(entry.kind.rawValue)", "A length is \(ValueKind.integer.rawValue)")
            }
        }
        awaited = []
    }

    /// Ends a call. Its parameters are no longer visible afterwards.
    mutating func endCall() {
        formerParameters.formUnion(parameters.keys)
        (parameters, ownNames) = ([:], [])
    }

    /// Begins a call inside another call. The inner call can use the names of the outer call, and
    /// its parameters may have the same names.
    mutating func beginInnerCall() {
        entries.merge(parameters) { $1 }
        (parameters, ownNames) = ([:], [])
    }

    /// The number of results so far, for ``endBlock(from:in:)``.
    var mark: Int { order.count }

    /// Ends a block and removes its results.
    ///
    /// - Parameter mark: The value of ``mark`` at the start of the block.
    /// - Throws: ``BindingError`` if the block does not use a result that must be used.
    mutating func endBlock(from mark: Int, in scanner: BindingScanner) throws(BindingError) {
        try checkUses(from: mark, in: scanner)
        for name in order[mark...] { entries[name] = nil }
        order.removeSubrange(mark...)
    }

    /// Throws an error for the first name, starting at `mark`, that must be used but is not.
    func checkUses(from mark: Int = 0, in scanner: BindingScanner) throws(BindingError) {
        for name in order[mark...] {
            guard let entry = entries[name], let use = entry.use, !entry.isUsed else { continue }
            throw scanner.error(
                at: entry.offset, "The value “\(name)” is never used",
                "\(use), or name it “_” to ignore it")
        }
    }
}

extension ValueKind {
    /// Returns `true` if a value of this kind is accepted where a different kind is expected.
    func fits(_ wanted: ValueKind) -> Bool {
        switch (self, wanted) {
        case _ where self == wanted: true
        case (.integer, .float), (.null, .text), (.null, .bytes), (.null, .pointer), (.text, .bytes): true
        default: false
        }
    }
}
