// SPDX-License-Identifier: Apache-2.0

/// What the names in a binding stand for at one place, and whether each was used.
struct BindingScope {
    struct Entry {
        var kind: ValueKind
        /// Where it was named.
        var offset: Int
        /// What must look at it; `nil` if nothing must.
        var use: String?
        var isUsed = false
        /// Whether it is memory of which a beginning can be taken.
        var isBuffer = false
    }
    private(set) var entries: [String: Entry] = [:]
    /// The names in the order in which they were made.
    private var order: [String] = []

    /// Whether names may be used that come later: a length mostly follows what it is the length of.
    var looksAhead = false
    /// Those that were, and where.
    private var awaited: [(name: String, offset: Int)] = []

    /// Words that mean something else.
    private static let reserved: Set<String> = ["item", "request", "bundle", "null"]

    /// Adds a name. A use says what is to be done with it, and makes it an error not to.
    mutating func add(
        _ name: String, _ kind: ValueKind, at offset: Int, use: String? = nil, isBuffer: Bool = false,
        in scanner: BindingScanner
    ) throws(BindingError) {
        guard name != "_" else { return }
        guard !Self.reserved.contains(name) else {
            throw scanner.error(at: offset, "“\(name)” has a meaning of its own", "Choose another name")
        }
        guard entries[name] == nil else {
            throw scanner.error(
                at: offset, "There are two of the name “\(name)”", "Choose another name for one of them")
        }
        entries[name] = Entry(kind: kind, offset: offset, use: use, isBuffer: isBuffer)
        order.append(name)
    }

    /// What a name is; notes that it was used.
    mutating func use(_ name: String, at offset: Int, in scanner: BindingScanner) throws(BindingError) -> Entry {
        guard let entry = entries[name] else {
            if looksAhead {
                awaited.append((name, offset))
                return Entry(kind: .integer, offset: offset)
            }
            let known = order.filter { $0.hasPrefix(name + ".") }.prefix(4)
            let advice =
                known.isEmpty
                ? "Name a parameter or result further up, or a value such as item.contents"
                : "Name one of its fields: \(known.joined(separator: ", "))"
            throw scanner.error(at: offset, "There is no “\(name)” here", advice)
        }
        entries[name]?.isUsed = true
        return entry
    }

    /// Ends looking ahead: what was used must be there now.
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

    /// Fails for the first name that should have been used.
    func checkUses(in scanner: BindingScanner) throws(BindingError) {
        for name in order {
            guard let entry = entries[name], let use = entry.use, !entry.isUsed else { continue }
            throw scanner.error(
                at: entry.offset, "What the function says in “\(name)” is never looked at",
                "\(use), or name it “_” if it does not matter")
        }
    }
}

extension ValueKind {
    /// Whether a value of this kind can be given where another is wanted.
    func fits(_ wanted: ValueKind) -> Bool {
        switch (self, wanted) {
        case _ where self == wanted: true
        case (.integer, .float), (.null, .text), (.null, .bytes), (.null, .pointer), (.text, .bytes): true
        default: false
        }
    }
}
