// SPDX-License-Identifier: Apache-2.0

extension UTTypeSnapshot {
    /// Returns `true` if a declaration replaces a core declaration. Exported declarations do,
    /// unless the core table exports the type itself (docs/UNIFORM-TYPES.md).
    static func canOverrideCore(_ declaration: UTTypeDeclaration) -> Bool {
        guard declaration.kind == .exported else { return false }
        guard let core = CoreTable.shared.index(ofLowercase: declaration.identifier) else { return false }
        return CoreTable.shared.origins[Int(core)] != .coreExported
    }

    /// Builds the types from registrations, given in registration order.
    convenience init(_ registrations: [UTTypeRegistry.Registration], generation: UInt64) {
        var builder = Builder()
        builder.choose(registrations)
        builder.resolveAll()
        builder.judgeParents()
        let active = builder.chosen.mapValues { registration in
            ActiveType(
                declaration: registration.declaration, directory: registration.directory, order: registration.order,
                resolved: builder.resolved[registration.declaration.identifier] ?? ResolvedType())
        }
        var coreOverrides: [CoreIndex: ResolvedType] = [:]
        for (name, type) in builder.resolved {
            if let core = CoreTable.shared.index(ofLowercase: name) { coreOverrides[core] = type }
        }
        var tagged: [TagText: [String]] = [:]
        for registration in builder.chosen.values.sorted(by: { $0.order < $1.order }) {
            for (tagClass, tags) in registration.declaration.tags {
                guard let key = tagClass.key else { continue }
                for tag in tags {
                    let name = registration.declaration.identifier
                    // Two tags that differ only in case share one entry.
                    if tagged[TagText(key, tag)]?.last != name { tagged[TagText(key, tag), default: []].append(name) }
                }
            }
        }
        self.init(
            generation: generation, active: active, coreOverrides: coreOverrides, tagged: tagged,
            inactive: builder.inactive, diagnostics: builder.diagnostics)
    }

    /// Selects the declarations in effect, and resolves the ancestors of each type.
    private struct Builder {
        var chosen: [String: UTTypeRegistry.Registration] = [:]
        var inactive: [String: [UTTypeDeclaration]] = [:]
        var resolved: [String: ResolvedType] = [:]
        var diagnostics: [UTTypeDiagnostic] = []

        /// Selects one declaration per identifier: exported before imported, then the highest
        /// version, then the latest. The core table's own declaration precedes others of the same
        /// kind.
        mutating func choose(_ registrations: [UTTypeRegistry.Registration]) {
            let groups = Dictionary(grouping: registrations, by: \.declaration.identifier)
            for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
                let ranked = group.sorted { one, other in
                    let (first, second) = (one.declaration, other.declaration)
                    if first.kind != second.kind { return first.kind == .exported }
                    if first.version != second.version { return (first.version ?? .min) > (second.version ?? .min) }
                    return one.order > other.order
                }
                guard let best = ranked.first else { continue }
                let isCore = CoreTable.shared.index(ofLowercase: name) != nil
                let winner = isCore && !canOverrideCore(best.declaration) ? nil : best
                chosen[name] = winner
                let losers = winner == nil ? ranked[...] : ranked.dropFirst()
                if !losers.isEmpty { inactive[name] = losers.map(\.declaration) }
                for loser in losers where loser.declaration.kind == .exported {
                    diagnostics.append(.notInForce(name, bundle: loser.bundle, winner: winner?.bundle))
                }
            }
        }

        /// Resolves every declared type, and the core types that conform to a replaced core type.
        mutating func resolveAll() {
            let table = CoreTable.shared
            var names = chosen.keys.sorted()
            let overridden = names.compactMap(table.index(ofLowercase:))
            if !overridden.isEmpty {
                for core in 0..<CoreIndex(table.count)
                where overridden.contains(where: { table.conforms(core, to: $0) }) {
                    let name = table.identifier(core)
                    if chosen[name] == nil { names.append(name) }
                }
            }
            let nodes = Set(names)
            for name in names { resolve(name, among: nodes) }
        }

        private func parents(of name: String) -> [String] {
            if let registration = chosen[name] { return registration.declaration.conformsTo }
            guard let core = CoreTable.shared.index(ofLowercase: name) else { return [] }
            return CoreTable.shared.parents(of: core).map(CoreTable.shared.identifier)
        }

        /// Resolves a type depth-first, with an explicit stack. An edge back into the path would
        /// close a cycle, and is ignored.
        private mutating func resolve(_ start: String, among nodes: Set<String>) {
            guard resolved[start] == nil else { return }
            var path: [(name: String, remaining: ArraySlice<String>, kept: [String])] = []
            path.append((start, parents(of: start)[...], []))
            var onPath: Set<String> = [start]
            while let (name, _, kept) = path.last {
                guard let parent = path[path.count - 1].remaining.popFirst() else {
                    resolved[name] = union(of: kept, isDeclaredAs: name)
                    onPath.remove(name)
                    path.removeLast()
                    continue
                }
                if onPath.contains(parent) {
                    let circle = path.map(\.name).drop { $0 != parent }
                    diagnostics.append(.cycle(Array(circle) + [parent]))
                    continue
                }
                path[path.count - 1].kept.append(parent)
                if nodes.contains(parent), resolved[parent] == nil {
                    onPath.insert(parent)
                    path.append((parent, parents(of: parent)[...], []))
                }
            }
        }

        private func union(of parents: [String], isDeclaredAs name: String) -> ResolvedType {
            var result = ResolvedType(parents: parents, isDeclared: true)
            for parent in parents {
                if let core = CoreTable.shared.index(ofLowercase: parent) {
                    result.insert(core: core)
                    result.formUnion(resolved[parent] ?? UTTypeSnapshot.core.resolved(core))
                } else {
                    result.insert(name: parent)
                    if let other = resolved[parent] {
                        result.formUnion(other)
                    } else if let dynamic = DynamicTypeIdentifier(parent) {
                        result.formUnion(UTTypeSnapshot.core.resolve(parent, .dynamic(dynamic)))
                    }
                }
            }
            // A core type has its own column set, as it is in the table.
            if let core = CoreTable.shared.index(ofLowercase: name) { result.insert(core: core) }
            return result
        }

        /// Reports undeclared parents, and types that no file can have.
        mutating func judgeParents() {
            guard let data = CoreTable.shared.index(ofLowercase: "public.data"),
                let directory = CoreTable.shared.index(ofLowercase: "public.directory")
            else { return }
            for (name, registration) in chosen.sorted(by: { $0.key < $1.key }) {
                for parent in registration.declaration.conformsTo {
                    let isKnown =
                        chosen[parent] != nil || CoreTable.shared.index(ofLowercase: parent) != nil
                        || DynamicTypeIdentifier(parent) != nil
                    if !isKnown { diagnostics.append(.undeclaredParent(parent, identifier: name)) }
                }
                if let type = resolved[name], !type.contains(data), !type.contains(directory) {
                    diagnostics.append(.neverOfAFile(name))
                }
            }
        }
    }
}
