// SPDX-License-Identifier: Apache-2.0

/// All types as declared at one point in time: the core table, and the registered declarations of
/// extensions.
///
/// Immutable, and therefore safe from any thread. `UTType` uses the current snapshot of
/// ``UTTypeRegistry/shared``. Keep a snapshot if types must not change between two queries.
public final class UTTypeSnapshot: Sendable {
    /// A declaration in effect.
    struct ActiveType: Sendable {
        let declaration: UTTypeDeclaration
        /// The folder of the declaring bundle, if known.
        let directory: String?
        /// The position among all registrations, as the last tie-break.
        let order: Int
        let resolved: ResolvedType
    }

    /// A tag of an extension's type, used as a lookup key.
    struct TagText: Hashable, Sendable {
        let tagClass: TagKey
        let text: String

        init(_ tagClass: TagKey, _ text: String) {
            self.tagClass = tagClass
            self.text = tagClass.isCaseSensitive ? text : text.lowercased()
        }
    }

    /// The snapshot that contains only the core table.
    static let core = UTTypeSnapshot(
        generation: 0, active: [:], coreOverrides: [:], tagged: [:], inactive: [:], diagnostics: [])

    /// A number that increases with each registration and is unique within the process.
    let generation: UInt64
    /// The extensions' declarations in effect, by lowercase identifier.
    let active: [String: ActiveType]
    /// The core types whose ancestors differ from the table, because an extension exports the type
    /// or an ancestor.
    let coreOverrides: [CoreIndex: ResolvedType]
    /// The same core types as a bit set.
    let overrideBits: [UInt64]
    /// The identifiers of ``active`` types by tag, in registration order.
    let tagged: [TagText: [String]]
    /// The declarations that are not in effect, by identifier.
    let inactive: [String: [UTTypeDeclaration]]
    /// The problems that involve several declarations: cycles, undeclared parents, and declarations
    /// that are not in effect.
    public let diagnostics: [UTTypeDiagnostic]

    init(
        generation: UInt64, active: [String: ActiveType], coreOverrides: [CoreIndex: ResolvedType],
        tagged: [TagText: [String]], inactive: [String: [UTTypeDeclaration]], diagnostics: [UTTypeDiagnostic]
    ) {
        self.generation = generation
        self.active = active
        self.coreOverrides = coreOverrides
        overrideBits = UTTypeSnapshot.bits(of: coreOverrides.keys)
        self.tagged = tagged
        self.inactive = inactive
        self.diagnostics = diagnostics
    }
}

// MARK: - Changed core types

extension UTTypeSnapshot {
    /// The number of words in a bit set of core types.
    static let overrideWords = 16

    /// Converts a set of core types to bits.
    static func bits(of types: some Sequence<CoreIndex>) -> [UInt64] {
        var bits = [UInt64](repeating: 0, count: overrideWords)
        for type in types { bits[Int(type >> 6)] |= 1 << UInt64(type & 63) }
        return bits
    }

    @inline(__always)
    func isOverridden(_ core: CoreIndex) -> Bool { (overrideBits[Int(core >> 6)] >> UInt64(core & 63)) & 1 != 0 }
}

// MARK: - Types

extension UTTypeSnapshot {
    /// Returns the type of an identifier, in any case.
    ///
    /// - Returns: `nil` if the identifier is neither declared nor dynamic.
    public func type(_ identifier: String) -> UTType? {
        guard !TypeIdentifier.isDynamic(identifier) else {
            return DynamicTypeIdentifier(identifier).map { dynamic in
                let name = TypeIdentifier.lowercased(identifier)
                return UTType(TypeBox(identifier: name, kind: .dynamic(dynamic), in: self))
            }
        }
        guard identifier.utf8.count <= TypeIdentifier.maximumBytes else { return nil }
        let name = TypeIdentifier.lowercased(identifier)
        if let core = CoreTable.shared.index(ofLowercase: name) { return UTType(core: core) }
        guard active[name] != nil else { return nil }
        return UTType(TypeBox(identifier: name, kind: .named(assumedParents: []), in: self))
    }

    /// Returns the type of an identifier, or a type that is only a name. Such a type conforms to
    /// itself, to `parents` and to their ancestors.
    func typeOrName(_ identifier: String, parents: [String] = []) -> UTType {
        if let type = type(identifier) { return type }
        let name = TypeIdentifier.lowercased(identifier)
        return UTType(TypeBox(identifier: name, kind: .named(assumedParents: parents), in: self))
    }

    /// Returns the ancestors of a type.
    func resolved(_ type: UTType) -> ResolvedType {
        switch type.storage {
        case .core(let core): resolved(core)
        case .other(let box): box.resolved(in: self)
        }
    }

    func row(_ type: UTType) -> ClosureRow {
        switch type.storage {
        case .core(let core):
            guard isOverridden(core), let override = coreOverrides[core] else { return CoreTable.shared.row(core) }
            return override.row
        case .other(let box): return box.row(in: self)
        }
    }

    func resolved(_ core: CoreIndex) -> ResolvedType {
        if let override = coreOverrides[core] { return override }
        let table = CoreTable.shared
        return ResolvedType(
            row: table.row(core), parents: table.parents(of: core).map(table.identifier), isDeclared: true)
    }

    /// Resolves the ancestors of a type outside the core table.
    func resolve(_ identifier: String, _ kind: TypeBox.Kind) -> ResolvedType {
        switch kind {
        case .dynamic(let dynamic): return above([dynamic.parent].compactMap(\.self))
        case .named(let assumedParents): return active[identifier]?.resolved ?? above(assumedParents)
        }
    }

    /// Returns all ancestors of a type that has these parents, which need not be declared.
    private func above(_ parents: [String]) -> ResolvedType {
        var result = ResolvedType()
        for parent in parents {
            let name = TypeIdentifier.lowercased(parent)
            result.parents.append(name)
            if let core = CoreTable.shared.index(ofLowercase: name) {
                result.insert(core: core)
                result.formUnion(resolved(core))
            } else {
                result.insert(name: name)
                if let declared = active[name] {
                    result.formUnion(declared.resolved)
                } else if let dynamic = DynamicTypeIdentifier(name) {
                    // The recursion terminates, because an identifier that contains another one is
                    // longer by a factor of 8/5.
                    result.formUnion(resolve(name, .dynamic(dynamic)))
                }
            }
        }
        return result
    }
}

// MARK: - Conformance

extension UTTypeSnapshot {
    /// Returns `true` if a type equals or conforms to another type.
    public func conforms(_ type: UTType, to other: UTType) -> Bool {
        switch (type.storage, other.storage) {
        case (.core(let one), .core(let two)):
            if !isOverridden(one) { return CoreTable.shared.conforms(one, to: two) }
            return one == two || (coreOverrides[one]?.contains(two) ?? CoreTable.shared.conforms(one, to: two))
        case (.core(let one), .other(let box)):
            return isOverridden(one) && coreOverrides[one]?.namedAncestors.contains(box.identifier) ?? false
        case (.other(let box), .core(let two)):
            if box.generation == generation { return box.initiallyContains(two) }
            return box.resolved(in: self).contains(two)
        case (.other(let one), .other(let two)):
            if one === two || one.identifier == two.identifier { return true }
            return one.resolved(in: self).namedAncestors.contains(two.identifier)
        }
    }

    /// Returns all supertypes of a type, excluding the type itself, in no particular order.
    public func supertypes(of type: UTType) -> Set<UTType> {
        let resolved = resolved(type)
        var result: Set<UTType> = []
        for column in resolved.row.columns { result.insert(UTType(core: CoreTable.shared.columnTypes[Int(column)])) }
        for core in resolved.coreAncestors { result.insert(UTType(core: core)) }
        for name in resolved.namedAncestors { result.insert(typeOrName(name)) }
        result.remove(type)
        return result
    }

    /// Returns the direct parents of a type, in declared order.
    public func parents(of type: UTType) -> [UTType] {
        resolved(type).parents.map { typeOrName($0) }
    }

    /// Returns the types that declare a type as a parent: core types in table order, then
    /// extensions' types sorted by name.
    ///
    /// - Complexity: Linear in the number of types.
    public func children(of type: UTType) -> [UTType] {
        declaredTypes.filter { resolved($0).parents.contains(type.identifier) }
    }

    /// All declared types: core types in table order, then extensions' types sorted by name.
    public var declaredTypes: [UTType] {
        let core = (0..<CoreTable.shared.count).map { UTType(core: CoreIndex($0)) }
        let others = active.keys.filter { CoreTable.shared.index(ofLowercase: $0) == nil }
        return core + others.sorted().map { typeOrName($0) }
    }

    /// Returns the minimum number of steps from a type to a supertype; 0 for the type itself, `nil`
    /// if it does not conform.
    func distance(from type: UTType, to other: UTType) -> Int? {
        guard conforms(type, to: other) else { return nil }
        var (level, distance): (Set<UTType>, Int) = ([type], 0)
        var visited = level
        while !level.isEmpty {
            if level.contains(other) { return distance }
            level = Set(level.flatMap(parents(of:))).subtracting(visited)
            visited.formUnion(level)
            distance += 1
        }
        return nil
    }
}
