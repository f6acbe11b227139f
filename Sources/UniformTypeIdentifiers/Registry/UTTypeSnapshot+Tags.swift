// SPDX-License-Identifier: Apache-2.0

extension UTTypeSnapshot {
    /// The ranking of several declared types that share a tag; smaller is better
    /// (docs/UNIFORM-TYPES.md).
    private struct Rank: Comparable {
        /// 0 if a recorded preference selects this type, overriding the general order; otherwise 1.
        let recorded: Int
        /// 0 for core declarations.
        let core: Int
        /// 0 for the `public.` domain.
        let domain: Int
        /// 0 for exported declarations.
        let kind: Int
        /// The position in the table; for other types, the size of the table plus the registration
        /// order.
        let order: Int

        static func < (one: Rank, other: Rank) -> Bool {
            (one.recorded, one.core, one.domain, one.kind, one.order)
                < (other.recorded, other.core, other.domain, other.kind, other.order)
        }
    }

    /// Returns all types for a tag, best first.
    ///
    /// - Parameters:
    ///   - tag: The tag. Case is ignored, except for four-character codes and pasteboard names.
    ///   - tagClass: The class of the tag.
    ///   - supertype: A type to which the results must conform; `nil` for any type.
    /// - Returns: One dynamic type if no declared type matches; empty for an invalid tag or an
    ///   unknown class.
    public func types(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) -> [UTType] {
        guard let key = tagClass.key, TypeIdentifier.isTagText(tag, key) else { return [] }
        // An empty extension represents files without an extension. Empty tags of other classes
        // have no meaning.
        guard !tag.isEmpty || key == .filenameExtension else { return [] }
        let declared = declaredTypes(tag: tag, key, conformingTo: supertype)
        if !declared.isEmpty { return declared }
        let dynamic = DynamicTypeIdentifier(
            parent: supertype?.identifier, tags: [.init(tagClass: UTTagClass(key), value: tag)])
        guard let dynamic else { return [] }
        return [UTType(TypeBox(identifier: dynamic.identifier, kind: .dynamic(dynamic), in: self))]
    }

    /// Returns the declared types for a tag, best first.
    func declaredTypes(tag: String, _ key: TagKey, conformingTo supertype: UTType?) -> [UTType] {
        let table = CoreTable.shared
        var found: [(rank: Rank, type: UTType)] = []
        for tag in table.tags(matching: tag, key) {
            let type = UTType(core: tag.type)
            // An exported declaration in effect replaces the tags of the core table's imported
            // declaration.
            if !coreOverrides.isEmpty, active[type.identifier] != nil { continue }
            if let supertype, !conforms(type, to: supertype) { continue }
            let origin = table.origins[Int(tag.type)]
            let rank = Rank(
                recorded: tag.isRecordedWinner ? 0 : 1, core: origin == .elsewhere ? 1 : 0,
                domain: type.isPublic ? 0 : 1, kind: origin == .coreImported ? 1 : 0, order: Int(tag.type))
            found.append((rank, type))
        }
        for name in tagged[TagText(key, tag)] ?? [] {
            guard let active = active[name] else { continue }
            let type = typeOrName(name)
            if let supertype, !conforms(type, to: supertype) { continue }
            let rank = Rank(
                recorded: 1, core: 1, domain: type.isPublic ? 0 : 1,
                kind: active.declaration.kind == .exported ? 0 : 1, order: table.count + active.order)
            found.append((rank, type))
        }
        return found.sorted { $0.rank < $1.rank }.map(\.type)
    }

    /// Returns the extension's declaration that is in effect for a type; `nil` if there is none.
    public func declaration(of type: UTType) -> UTTypeDeclaration? {
        active.isEmpty ? nil : active[type.identifier]?.declaration
    }

    /// Returns the folder of the bundle whose declaration of a type is in effect; `nil` if it is
    /// unknown or there is no such bundle.
    func declaringDirectory(of type: UTType) -> String? { active.isEmpty ? nil : active[type.identifier]?.directory }

    /// Returns the registered declarations of a type that are not in effect.
    public func inactiveDeclarations(of type: UTType) -> [UTTypeDeclaration] { inactive[type.identifier] ?? [] }

    /// Returns the tags of a type by class, preferred first.
    public func tags(of type: UTType) -> [UTTagClass: [String]] {
        if let declaration = declaration(of: type) { return declaration.tags }
        switch type.storage {
        case .core(let core): return CoreTable.shared.tags(of: core)
        case .other(let box):
            guard case .dynamic(let dynamic) = box.kind else { return [:] }
            return Dictionary(grouping: dynamic.tags, by: \.tagClass).mapValues { $0.map(\.value) }
        }
    }

    /// Returns a type's first tag in a class.
    func preferredTag(of type: UTType, _ tagClass: UTTagClass) -> String? {
        if case .core(let core) = type.storage, active.isEmpty {
            return CoreTable.shared.firstItem(
                core, tagClass == .filenameExtension ? .filenameExtensions : .mimeTypes)
        }
        return tags(of: type)[tagClass]?.first
    }

    /// Returns the description of a type or, failing that, the first description of an ancestor,
    /// depth-first.
    public func localizedDescription(of type: UTType) -> String? {
        guard !type.isDynamic else { return nil }
        var visited: Set<UTType> = []
        // Uses an explicit stack, because the declarations of extensions can be nested arbitrarily
        // deep.
        var stack = [type]
        while let type = stack.popLast() {
            guard visited.insert(type).inserted else { continue }
            if let declaration = declaration(of: type) {
                if let text = declaration.localizedDescription { return text }
            } else if case .core(let core) = type.storage, let text = CoreTable.shared.localizedDescription(core) {
                return text
            }
            stack += parents(of: type).reversed()
        }
        return nil
    }

    /// Returns the type for an imported identifier: the preferred type for its preferred extension,
    /// or else the type itself.
    func preferredType(forImported type: UTType, conformingTo parent: UTType?) -> UTType {
        guard let filenameExtension = preferredTag(of: type, .filenameExtension) else { return type }
        // An extension for directories must be looked up among directory types.
        let physical: UTType = conforms(type, to: .directory) ? .directory : .data
        let candidates = declaredTypes(tag: filenameExtension, .filenameExtension, conformingTo: parent ?? physical)
        return candidates.first ?? type
    }
}
