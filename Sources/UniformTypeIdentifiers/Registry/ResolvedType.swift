// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What stands above one type in one snapshot. Immutable once published, so any thread may read it.
struct ResolvedType: Sendable {
    /// The ancestors that have a column in the core table (and the type itself, if it has one). The bit that is no
    /// column tells whether ``coreAncestors`` has any.
    var row = ClosureRow()
    /// The ancestors from the core table that have none.
    var coreAncestors: [CoreIndex] = []
    /// The other ancestors by identifier: types of extensions, and parents nobody declares.
    var namedAncestors: [String] = []
    /// The direct parents, in declared order, lowercase.
    var parents: [String] = []
    /// Whether a declaration is registered.
    var isDeclared = false

    /// Whether a core type is an ancestor.
    @inline(__always)
    func contains(_ core: CoreIndex) -> Bool {
        let column = CoreTable.shared.columns[Int(core)]
        return column == CoreTable.noColumn ? coreAncestors.contains(core) : row.contains(column)
    }

    /// Adds everything above a parent.
    mutating func formUnion(_ other: ResolvedType) {
        row.formUnion(other.row)
        for core in other.coreAncestors where !coreAncestors.contains(core) { coreAncestors.append(core) }
        if namedAncestors.isEmpty {
            namedAncestors = other.namedAncestors
        } else if other.namedAncestors.count < 8 {
            for name in other.namedAncestors where !namedAncestors.contains(name) { namedAncestors.append(name) }
        } else {
            // Long lists come from long chains, where looking through them each time would take cubic time.
            let known = Set(namedAncestors)
            namedAncestors += other.namedAncestors.filter { !known.contains($0) }
        }
    }

    /// Adds a parent itself.
    mutating func insert(core: CoreIndex) {
        let column = CoreTable.shared.columns[Int(core)]
        if column != CoreTable.noColumn {
            row.insert(column)
        } else if !coreAncestors.contains(core) {
            coreAncestors.append(core)
            row.insert(CoreTable.noColumn)
        }
    }

    mutating func insert(name: String) {
        if !namedAncestors.contains(name) { namedAncestors.append(name) }
    }
}

/// A type that is not in the core table: dynamic, declared by an extension, or only named.
///
/// What stands above it depends on what is registered. The answer found when the value was made is kept beside the
/// generation it belongs to; while that is the current one, a query needs neither a lock nor a look-up.
final class TypeBox: Sendable {
    enum Kind: Sendable {
        /// Made from a tag.
        case dynamic(DynamicTypeIdentifier)
        /// Known by name; `assumedParents` hold until a declaration is registered.
        case named(assumedParents: [String])
    }

    /// An answer and the generation it belongs to.
    final class Stamped: Sendable {
        let generation: UInt64
        let type: ResolvedType

        init(generation: UInt64, type: ResolvedType) {
            self.generation = generation
            self.type = type
        }
    }

    let identifier: String
    let kind: Kind
    /// The generation that ``initial`` belongs to.
    let generation: UInt64
    /// The row of ``initial``, apart so that the common question touches nothing that is counted.
    let row: ClosureRow
    let initial: ResolvedType
    private let refreshed = Mutex<Stamped?>(nil)

    /// Makes a type of a lowercase identifier.
    init(identifier: String, kind: Kind, in snapshot: UTTypeSnapshot) {
        self.identifier = identifier
        self.kind = kind
        generation = snapshot.generation
        initial = snapshot.resolve(identifier, kind)
        row = initial.row
    }

    /// Whether a core type is an ancestor, in the generation of the value.
    @inline(__always)
    func initiallyContains(_ core: CoreIndex) -> Bool {
        let column = CoreTable.shared.columns[Int(core)]
        guard row.contains(column) else { return false }
        return column != CoreTable.noColumn || initial.coreAncestors.contains(core)
    }

    /// What stands above the type in a snapshot.
    func resolved(in snapshot: UTTypeSnapshot) -> ResolvedType {
        generation == snapshot.generation ? initial : current(in: snapshot).type
    }

    func row(in snapshot: UTTypeSnapshot) -> ClosureRow {
        generation == snapshot.generation ? row : current(in: snapshot).type.row
    }

    /// The answer worked out for a later generation, if it was asked for before.
    func refreshed(for generation: UInt64) -> Stamped? {
        refreshed.withLock { $0?.generation == generation ? $0 : nil }
    }

    private func current(in snapshot: UTTypeSnapshot) -> Stamped {
        if let kept = refreshed(for: snapshot.generation) { return kept }
        // Two threads may both compute this; the answers are equal.
        let stamped = Stamped(generation: snapshot.generation, type: snapshot.resolve(identifier, kind))
        refreshed.withLock { $0 = stamped }
        return stamped
    }
}
