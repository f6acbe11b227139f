// SPDX-License-Identifier: Apache-2.0

/// A type of data, identified by a reverse-DNS identifier, within a conformance hierarchy.
///
/// Two types are equal if their identifiers are equal, ignoring case. Types in the core table use
/// no additional memory. The properties of an extension's type follow the current registrations in
/// ``UTTypeRegistry/shared``. All members are safe from any thread.
public struct UTType: Sendable {
    enum Storage: Sendable {
        case core(CoreIndex)
        case other(TypeBox)
    }

    let storage: Storage

    @inline(__always)
    init(core: CoreIndex) { storage = .core(core) }

    init(_ box: TypeBox) { storage = .other(box) }

    /// Creates the type with an identifier, in any case.
    ///
    /// - Returns: `nil` if the identifier is neither declared nor a valid dynamic identifier.
    public init?(_ identifier: String) {
        guard let type = UTTypeRegistry.currentSnapshot.type(identifier) else { return nil }
        self = type
    }

    /// Creates a type that your own extension or app exports in its Info.plist. Never fails.
    ///
    /// - Parameters:
    ///   - identifier: The declared identifier.
    ///   - parentType: The supertype until the declaration is registered; data if `nil`.
    public init(exportedAs identifier: String, conformingTo parentType: UTType? = nil) {
        self = UTTypeRegistry.currentSnapshot.typeOrName(
            identifier, parents: UTType.assumedParents(parentType))
    }

    /// Creates a type that belongs to another owner and that your Info.plist imports. Never fails.
    ///
    /// The result may be a different type: the preferred type for its preferred filename extension.
    /// It can change when extensions are added or removed, so do not store it.
    ///
    /// - Parameters:
    ///   - identifier: The declared identifier.
    ///   - parentType: The supertype until a declaration is registered; data if `nil`.
    public init(importedAs identifier: String, conformingTo parentType: UTType? = nil) {
        let snapshot = UTTypeRegistry.currentSnapshot
        let named = snapshot.typeOrName(identifier, parents: UTType.assumedParents(parentType))
        self = snapshot.preferredType(forImported: named, conformingTo: parentType)
    }

    /// Returns the assumed parents of a name: the given parent and, if that is only a name, its
    /// assumed parents.
    private static func assumedParents(_ parent: UTType?) -> [String] {
        guard let parent else { return [UTType.data.identifier] }
        guard case .other(let box) = parent.storage, case .named(let further) = box.kind else {
            return [parent.identifier]
        }
        return [parent.identifier] + further
    }

    /// The identifier, in lowercase.
    public var identifier: String {
        switch storage {
        case .core(let core): CoreTable.shared.identifier(core)
        case .other(let box): box.identifier
        }
    }

    /// A Boolean value that indicates whether the type was created from a tag that does not belong
    /// to any declared type.
    public var isDynamic: Bool {
        if case .other(let box) = storage, case .dynamic = box.kind { true } else { false }
    }

    /// A Boolean value that indicates whether the type is declared.
    public var isDeclared: Bool {
        switch storage {
        case .core: true
        case .other(let box): UTTypeRegistry.currentSnapshot.active[box.identifier] != nil
        }
    }

    /// A Boolean value that indicates whether the identifier is in the `public.` domain.
    public var isPublic: Bool {
        switch storage {
        case .core(let core): CoreTable.shared.isPublic(core)
        case .other(let box): box.identifier.utf8.starts(with: "public.".utf8)
        }
    }

    /// The version of the declaration; `nil` if it has none. Core declarations have none.
    public var version: Int? { UTTypeRegistry.currentSnapshot.declaration(of: self)?.version }

    /// The localized description of the type or, failing that, the first description of an
    /// ancestor, depth-first in declared order. Dynamic types have none.
    public var localizedDescription: String? { UTTypeRegistry.currentSnapshot.localizedDescription(of: self) }
}

// MARK: - Conformance

extension UTType {
    /// Returns a Boolean value that indicates whether the type equals or conforms to another type,
    /// in constant time.
    public func conforms(to type: UTType) -> Bool {
        if case .core(let one) = storage, case .core(let two) = type.storage, !UTTypeRegistry.shared.overrides(one) {
            return CoreTable.shared.conforms(one, to: two)
        }
        return conformsBeyondCore(to: type)
    }

    /// `true` if only the core table determines the ancestors of the type.
    @inline(__always)
    var isCoreAsInTable: Bool {
        if case .core(let core) = storage { !UTTypeRegistry.shared.overrides(core) } else { false }
    }

    @inline(never)
    private func conformsBeyondCore(to type: UTType) -> Bool {
        // The ancestors stored in the value are valid as long as no registration has changed.
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

    /// Returns a Boolean value that indicates whether the type is a subtype of another type;
    /// `false` for the type itself.
    public func isSubtype(of type: UTType) -> Bool { self != type && conforms(to: type) }

    /// Returns a Boolean value that indicates whether the type is a supertype of another type;
    /// `false` for the type itself.
    public func isSupertype(of type: UTType) -> Bool { type.isSubtype(of: self) }

    /// All supertypes, excluding the type itself.
    public var supertypes: Set<UTType> { UTTypeRegistry.currentSnapshot.supertypes(of: self) }
}

// MARK: - Identity

extension UTType: Hashable {
    /// Returns `true` if the identifiers are equal, ignoring case.
    public static func == (one: UTType, other: UTType) -> Bool {
        switch (one.storage, other.storage) {
        case (.core(let first), .core(let second)): first == second
        case (.other(let first), .other(let second)): first === second || first.identifier == second.identifier
        // A core type is always stored as its index in the table.
        case (.core, .other), (.other, .core): false
        }
    }

    /// Hashes the identifier.
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

    /// The identifier and the state of its declaration.
    public var debugDescription: String {
        "\(identifier) (\(isDynamic ? "dynamic" : isDeclared ? "declared" : "not declared"))"
    }
}

extension UTType: Codable {
    /// Decodes an identifier. An undeclared identifier is kept as a name, because the declaring
    /// extension may be registered again.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for an invalid identifier.
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

    /// Encodes the identifier.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(identifier)
    }
}
