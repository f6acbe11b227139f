// SPDX-License-Identifier: Apache-2.0

/// A kind of data, named by a reverse-DNS identifier and arranged in a hierarchy of conformance.
///
/// Two types are equal when their identifiers are, without case. Types of the core table cost no memory; what a type of an
/// extension answers follows what is registered in ``UTTypeRegistry/shared`` at the moment of the question. All members may
/// be used from any thread.
public struct UTType: Sendable {
    enum Storage: Sendable {
        case core(CoreIndex)
        case other(TypeBox)
    }

    let storage: Storage

    @inline(__always)
    init(core: CoreIndex) { storage = .core(core) }

    init(_ box: TypeBox) { storage = .other(box) }

    /// The type of an identifier, in any case.
    ///
    /// - Returns: `nil` when the identifier is neither declared nor a well-formed dynamic one.
    public init?(_ identifier: String) {
        guard let type = UTTypeRegistry.currentSnapshot.type(identifier) else { return nil }
        self = type
    }

    /// A type your own extension or app exports in its Info.plist. Never fails.
    ///
    /// - Parameters:
    ///   - identifier: The identifier as declared.
    ///   - parentType: What it conforms to until its declaration is registered; data if `nil`.
    public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) {
        self = UTTypeRegistry.currentSnapshot.typeOrName(
            identifier, parents: UTType.assumedParents(parentType))
    }

    /// A type somebody else owns and your Info.plist imports. Never fails.
    ///
    /// The answer may be another type: the one its preferred filename extension belongs to by preference. That changes when
    /// extensions come and go, so do not keep it.
    ///
    /// - Parameters:
    ///   - identifier: The identifier as declared.
    ///   - parentType: What it conforms to until a declaration is registered; data if `nil`.
    public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) {
        let snapshot = UTTypeRegistry.currentSnapshot
        let named = snapshot.typeOrName(identifier, parents: UTType.assumedParents(parentType))
        self = snapshot.preferredType(forImported: named, conformingTo: parentType)
    }

    /// What a name conforms to: the given parent, and what that one assumes if it is only a name itself.
    private static func assumedParents(_ parent: UTType?) -> [String] {
        guard let parent else { return [UTType.data.identifier] }
        guard case .other(let box) = parent.storage, case .named(let further) = box.kind else {
            return [parent.identifier]
        }
        return [parent.identifier] + further
    }

    /// The identifier, lowercase.
    public var identifier: String {
        switch storage {
        case .core(let core): CoreTable.shared.identifier(core)
        case .other(let box): box.identifier
        }
    }

    /// Whether the type was made from a tag no declared type has.
    public var isDynamic: Bool {
        if case .other(let box) = storage, case .dynamic = box.kind { true } else { false }
    }

    /// Whether a declaration is registered.
    public var isDeclared: Bool {
        switch storage {
        case .core: true
        case .other(let box): UTTypeRegistry.currentSnapshot.active[box.identifier] != nil
        }
    }

    /// Whether the identifier lies in the `public.` domain.
    public var isPublic: Bool {
        switch storage {
        case .core(let core): CoreTable.shared.isPublic(core)
        case .other(let box): box.identifier.utf8.starts(with: "public.".utf8)
        }
    }

    /// The version of the declaration, or `nil` when it has none (the core declarations have none).
    public var version: Int? { UTTypeRegistry.currentSnapshot.declaration(of: self)?.version }

    /// A short name for people: its own, or else the first one found above, depth first in declared order. Dynamic types
    /// have none.
    public var localizedDescription: String? { UTTypeRegistry.currentSnapshot.localizedDescription(of: self) }
}

// MARK: - Conformance

extension UTType {
    /// Whether the type is another one or stands below it. Constant time: a bit test.
    public func conforms(to type: UTType) -> Bool {
        if case .core(let one) = storage, case .core(let two) = type.storage, !UTTypeRegistry.shared.overrides(one) {
            return CoreTable.shared.conforms(one, to: two)
        }
        return conformsBeyondCore(to: type)
    }

    /// Whether the table alone says what stands above the type.
    @inline(__always)
    var isCoreAsInTable: Bool {
        if case .core(let core) = storage { !UTTypeRegistry.shared.overrides(core) } else { false }
    }

    @inline(never)
    private func conformsBeyondCore(to type: UTType) -> Bool {
        // The answer kept in the value holds while nothing was registered since.
        if case .other(let box) = storage {
            let generation = UTTypeRegistry.currentGeneration
            if box.generation == generation {
                switch type.storage {
                case .core(let core): return box.initiallyContains(core)
                case .other(let other):
                    return box === other || box.identifier == other.identifier
                        || box.initial.namedAncestors.contains(other.identifier)
                }
            }
            if case .core(let core) = type.storage, let later = box.refreshed(for: generation) {
                return later.type.contains(core)
            }
        }
        return UTTypeRegistry.currentSnapshot.conforms(self, to: type)
    }

    /// Whether the type stands below another one; false for itself.
    public func isSubtype(of type: UTType) -> Bool { self != type && conforms(to: type) }

    /// Whether the type stands above another one; false for itself.
    public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

    /// All types above this one, without itself.
    public var supertypes: Set<UTType> { UTTypeRegistry.currentSnapshot.supertypes(of: self) }
}

// MARK: - Identity

extension UTType: Hashable {
    /// Whether the identifiers are equal without case.
    public static func == (one: UTType, other: UTType) -> Bool {
        switch (one.storage, other.storage) {
        case (.core(let first), .core(let second)): first == second
        case (.other(let first), .other(let second)): first === second || first.identifier == second.identifier
        // A core identifier is always stored as its place in the table.
        case (.core, .other), (.other, .core): false
        }
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .core(let core): hasher.combine(core)
        case .other(let box): hasher.combine(box.identifier)
        }
    }
}

extension UTType: CustomStringConvertible, CustomDebugStringConvertible {
    /// The identifier.
    public var description: String { identifier }

    /// The identifier and what kind of type it is.
    public var debugDescription: String {
        "\(identifier) (\(isDynamic ? "dynamic" : isDeclared ? "declared" : "not declared"))"
    }
}

extension UTType: Codable {
    /// Reads an identifier. One that is not declared is kept as a name: the extension that declares it may come back.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a text that is no identifier.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let identifier = try container.decode(String.self)
        let isDynamic = TypeIdentifier.isDynamic(identifier)
        guard TypeIdentifier.isWellFormed(identifier), !isDynamic || DynamicTypeIdentifier(identifier) != nil else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a uniform type identifier: \(identifier.prefix(100))")
        }
        self = UTTypeRegistry.currentSnapshot.typeOrName(identifier)
    }

    /// Writes the identifier.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifier)
    }
}
