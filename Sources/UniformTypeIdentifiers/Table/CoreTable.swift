// SPDX-License-Identifier: Apache-2.0

/// The index of a type in the core table.
typealias CoreIndex = UInt16

/// The core declarations, indexed on first use. Immutable afterwards, and therefore safe from any
/// thread.
///
/// Conformance is a single bit test. Each type that is a parent (there are fewer than 256) has a
/// column. Each type has a row of four words, with a bit for each of its ancestors and, if it has a
/// column, for itself.
final class CoreTable: Sendable {
    static let shared = CoreTable([.coreExported, .coreImported, .elsewhere].map(Section.init))

    /// The number of words in a closure row.
    static let rowWords = 4
    /// The value in ``columns`` for types without subtypes.
    static let noColumn: UInt8 = 255
    /// The value of an empty hash slot.
    static let emptySlot: UInt16 = .max

    let text: Text
    /// The direct parents of all types, in a single list. The parents of type i begin at
    /// `parentStarts[i]`.
    let parents: [CoreIndex]
    let parentStarts: [UInt16]
    let columns: [UInt8]
    /// The type of each column.
    let columnTypes: [CoreIndex]
    /// The closure rows, `rowWords` words per type.
    let closure: [UInt64]
    let identifierSlots: [UInt16]
    let tags: [CoreTag]
    let tagSlots: [UInt16]

    init(_ sections: [Section]) {
        let text = Text(sections)
        let count = text.count

        var identifierSlots = [UInt16](repeating: CoreTable.emptySlot, count: CoreTable.identifierSlotCount)
        for type in 0..<count {
            var slot = CoreTable.hash(text.field(type, .identifier)) & (identifierSlots.count - 1)
            while identifierSlots[slot] != CoreTable.emptySlot { slot = (slot + 1) & (identifierSlots.count - 1) }
            identifierSlots[slot] = CoreIndex(type)
        }

        var parents: [CoreIndex] = []
        var parentStarts: [UInt16] = [0]
        var columns = [UInt8](repeating: CoreTable.noColumn, count: count)
        var columnTypes: [CoreIndex] = []
        parents.reserveCapacity(count * 2)
        parentStarts.reserveCapacity(count + 1)
        for type in 0..<count {
            for name in CoreTable.items(text.field(type, .parents)) {
                guard
                    let parent = CoreTable.find(
                        name, slots: identifierSlots, identifier: { text.field($0, .identifier) })
                else { continue }
                parents.append(parent)
                if columns[Int(parent)] == CoreTable.noColumn, columnTypes.count < Int(CoreTable.noColumn) {
                    columns[Int(parent)] = UInt8(columnTypes.count)
                    columnTypes.append(parent)
                }
            }
            parentStarts.append(UInt16(parents.count))
        }

        self.text = text
        self.identifierSlots = identifierSlots
        self.parents = parents
        self.parentStarts = parentStarts
        self.columns = columns
        self.columnTypes = columnTypes
        closure = CoreTable.closure(parents: parents, starts: parentStarts, columns: columns)
        (tags, tagSlots) = CoreTable.indexTags(text)
    }

    var count: Int { text.count }
    var origins: [Origin] { text.origins }
}

// MARK: - Reading

extension CoreTable {
    /// Returns `true` if a type equals or conforms to another type, in constant time.
    @inline(__always)
    func conforms(_ type: CoreIndex, to other: CoreIndex) -> Bool {
        let column = columns[Int(other)]
        if column == CoreTable.noColumn { return type == other }
        let word = closure[Int(type) &* CoreTable.rowWords &+ Int(column >> 6)]
        return (word >> UInt64(column & 63)) & 1 != 0
    }

    /// Returns the direct parents of a type, in declared order.
    func parents(of type: CoreIndex) -> ArraySlice<CoreIndex> {
        parents[Int(parentStarts[Int(type)])..<Int(parentStarts[Int(type) + 1])]
    }

    func row(_ type: CoreIndex) -> ClosureRow {
        let start = Int(type) * CoreTable.rowWords
        return ClosureRow(closure[start], closure[start + 1], closure[start + 2], closure[start + 3])
    }

    /// Returns the bytes of a field. They are valid for the lifetime of the process.
    func field(_ type: CoreIndex, _ field: Field) -> UnsafeBufferPointer<UInt8> {
        text.field(Int(type), field)
    }

    func identifier(_ type: CoreIndex) -> String { String(decoding: field(type, .identifier), as: UTF8.self) }

    /// Returns the description of a type; `nil` if there is none.
    func localizedDescription(_ type: CoreIndex) -> String? {
        let bytes = field(type, .localizedDescription)
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns `true` if the identifier is in the `public.` domain.
    func isPublic(_ type: CoreIndex) -> Bool { field(type, .identifier).starts(with: "public.".utf8) }

    /// Returns the type of a lowercase identifier.
    func index(ofLowercase identifier: String) -> CoreIndex? {
        var copy = identifier
        return copy.withUTF8 { name in
            CoreTable.find(name, slots: identifierSlots) { self.field(CoreIndex($0), .identifier) }
        }
    }
}

/// The ancestors of a type that have a column in the core table, as a bit set.
struct ClosureRow: Sendable {
    private(set) var words: (UInt64, UInt64, UInt64, UInt64)

    init() { words = (0, 0, 0, 0) }
    init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        words = (first, second, third, fourth)
    }

    /// Returns `true` if a column is set.
    @inline(__always)
    func contains(_ column: UInt8) -> Bool {
        let word =
            switch column >> 6 {
            case 0: words.0
            case 1: words.1
            case 2: words.2
            default: words.3
            }
        return (word >> UInt64(column & 63)) & 1 != 0
    }

    mutating func insert(_ column: UInt8) {
        let bit: UInt64 = 1 << UInt64(column & 63)
        switch column >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    mutating func formUnion(_ other: ClosureRow) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
    }

    /// The set columns, ascending.
    var columns: [UInt8] { (0..<UInt8.max).filter(contains) }
}
