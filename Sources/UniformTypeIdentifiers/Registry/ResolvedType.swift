// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The ancestors of a type in a snapshot. Immutable after publication, so any thread may read it.
struct ResolvedType: Sendable {
    /// The ancestors that have a column in the core table, and the type itself if it has one. The
    /// bit of ``CoreTable/noColumn`` is set if ``coreAncestors`` is not empty.
    var row = ClosureRow()
    /// The ancestors from the core table that have no column.
    var coreAncestors: [CoreIndex] = []
    /// The other ancestors by identifier: types of extensions, and undeclared parents.
    var namedAncestors: [String] = []
    /// The direct parents in declared order, lowercase.
    var parents: [String] = []
    /// `true` if a declaration is registered.
    var isDeclared = false

    /// Returns `true` if a core type is an ancestor.
    @inline(__always)
    func contains(_ core: CoreIndex) -> Bool {
        let column = CoreTable.shared.columns[Int(core)]
        return column == CoreTable.noColumn ? coreAncestors.contains(core) : row.contains(column)
    }

    /// Adds all ancestors of a parent, but not the parent itself.
    mutating func formUnion(_ other: ResolvedType) {
        row.formUnion(other.row)
        for core in other.coreAncestors where !coreAncestors.contains(core) { coreAncestors.append(core) }
        if namedAncestors.isEmpty {
            namedAncestors = other.namedAncestors
        } else if other.namedAncestors.count < 8 {
            for name in other.namedAncestors where !namedAncestors.contains(name) { namedAncestors.append(name) }
        } else {
            // Long lists result from long chains, for which repeated linear searches would take
            // cubic time.
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

/// A type outside the core table: dynamic, declared by an extension, or known only by name.
///
/// Its ancestors depend on the registered declarations. The ancestors at the time of creation are
/// stored with their generation. As long as that generation is current, a query needs neither a
/// lock nor a lookup.
final class TypeBox: Sendable {
    enum Kind: Sendable {
        /// A type created from a tag.
        case dynamic(DynamicTypeIdentifier)
        /// A type that is known by name. The `assumedParents` apply until a declaration is
        /// registered.
        case named(assumedParents: [String])
    }

    /// A resolved type, with the registry generation for which it is valid.
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
    /// The generation of ``initial``.
    let generation: UInt64
    /// The row of ``initial``, stored separately so that the common query touches no
    /// reference-counted object.
    let row: ClosureRow
    let initial: ResolvedType
    private let refreshed = Mutex<Stamped?>(nil)

    /// Creates a type from a lowercase identifier.
    init(identifier: String, kind: Kind, in snapshot: UTTypeSnapshot) {
        self.identifier = identifier
        self.kind = kind
        generation = snapshot.generation
        initial = snapshot.resolve(identifier, kind)
        row = initial.row
    }

    /// Returns `true` if a core type is an ancestor in the generation of this value.
    @inline(__always)
    func initiallyContains(_ core: CoreIndex) -> Bool {
        let column = CoreTable.shared.columns[Int(core)]
        guard row.contains(column) else { return false }
        return column != CoreTable.noColumn || initial.coreAncestors.contains(core)
    }

    /// Returns the ancestors of the type in a snapshot.
    func resolved(in snapshot: UTTypeSnapshot) -> ResolvedType {
        generation == snapshot.generation ? initial : current(in: snapshot).type
    }

    func row(in snapshot: UTTypeSnapshot) -> ClosureRow {
        generation == snapshot.generation ? row : current(in: snapshot).type.row
    }

    /// Returns the ancestors for a later generation, if they have already been computed.
    func refreshed(for generation: UInt64) -> Stamped? {
        refreshed.withLock { $0?.generation == generation ? $0 : nil }
    }

    private func current(in snapshot: UTTypeSnapshot) -> Stamped {
        if let kept = refreshed(for: snapshot.generation) { return kept }
        // Two threads may both compute this; their results are equal.
        let stamped = Stamped(generation: snapshot.generation, type: snapshot.resolve(identifier, kind))
        refreshed.withLock { $0 = stamped }
        return stamped
    }
}
