// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The types that bundles add to the core table, and remove from it, at run time.
///
/// Safe from any thread. Writers are serialized. Readers use the current ``snapshot``, which is
/// immutable. After changes, a new snapshot is built on the first query, so registering many
/// bundles costs only one build.
public final class UTTypeRegistry: Sendable {
    /// The registry used by all `UTType` values.
    public static let shared = UTTypeRegistry()

    /// The maximum number of registered bundles.
    public static let maximumBundles = 4096

    struct Registration: Sendable {
        let bundle: String
        /// The folder of the bundle, if known.
        let directory: String?
        let declaration: UTTypeDeclaration
        /// A number that increases with each registration. Among otherwise equal declarations, the
        /// latest wins.
        let order: Int
    }

    private struct State {
        var registrations: [String: [Registration]] = [:]
        /// The core types that each bundle replaces. Few bundles replace any.
        var replacedCoreTypes: [String: [CoreIndex]] = [:]
        var nextOrder = 0
        var snapshot = UTTypeSnapshot.core
    }

    /// The last generation across all registries. Generations are unique within the process, so
    /// values cached for one registry are never used for another.
    private static let lastGeneration = Atomic<UInt64>(0)

    private let state = Mutex(State())
    private let generation = Atomic<UInt64>(0)
    /// One bit per core type, set if the type's ancestors may differ from the table.
    private let overrideBits = InlineArray<16, Atomic<UInt64>> { _ in Atomic(0) }

    /// Creates a separate registry, for tests, and for tools that must not change the shared one.
    public init() {}

    /// Registers the declarations of a bundle, replacing its earlier declarations.
    ///
    /// - Parameters:
    ///   - declarations: All declarations of the bundle.
    ///   - bundle: The identifier of the bundle.
    ///   - directory: The folder of the bundle, for `UTTypeCopyDeclaringBundleURL`.
    /// - Returns: The problems of individual declarations. ``UTTypeSnapshot/diagnostics`` contains
    ///   the problems that involve several declarations.
    @discardableResult
    public func register(
        _ declarations: [UTTypeDeclaration], ofBundle bundle: String, at directory: String? = nil
    ) -> [UTTypeDiagnostic] {
        var diagnostics: [UTTypeDiagnostic] = []
        var kept: [UTTypeDeclaration] = []
        var seen: Set<String> = []
        if declarations.count > UTTypeDeclaration.maximumPerBundle * 2 {
            diagnostics.append(
                .tooMany("declarations", limit: UTTypeDeclaration.maximumPerBundle * 2, identifier: bundle))
        }
        for declaration in declarations.prefix(UTTypeDeclaration.maximumPerBundle * 2) {
            guard let normal = declaration.normalized(bundle: bundle, diagnostics: &diagnostics) else { continue }
            guard seen.insert(normal.identifier).inserted else {
                diagnostics.append(.duplicate(normal.identifier, bundle: bundle))
                continue
            }
            kept.append(normal)
        }
        let replaced = kept.filter(UTTypeSnapshot.canOverrideCore)
            .compactMap { CoreTable.shared.index(ofLowercase: $0.identifier) }
        let isFull = state.withLock { state in
            if state.registrations[bundle] == nil, state.registrations.count >= UTTypeRegistry.maximumBundles {
                return true
            }
            let registrations = kept.enumerated().map { position, declaration in
                Registration(
                    bundle: bundle, directory: directory, declaration: declaration, order: state.nextOrder + position)
            }
            state.nextOrder += kept.count
            state.registrations[bundle] = registrations.isEmpty ? nil : registrations
            state.replacedCoreTypes[bundle] = replaced.isEmpty ? nil : replaced
            publish(state)
            return false
        }
        if isFull {
            diagnostics.append(.tooMany("bundles", limit: UTTypeRegistry.maximumBundles, identifier: bundle))
        }
        return diagnostics
    }

    /// Removes all declarations of a bundle. Existing values of these types keep their identifiers.
    ///
    /// - Returns: `true` if the bundle had declarations.
    @discardableResult
    public func withdraw(bundle: String) -> Bool {
        state.withLock { state in
            guard state.registrations.removeValue(forKey: bundle) != nil else { return false }
            state.replacedCoreTypes[bundle] = nil
            publish(state)
            return true
        }
    }

    /// The bundles that have declarations, sorted.
    public var bundles: [String] { state.withLock { $0.registrations.keys.sorted() } }

    /// All currently declared types.
    public var snapshot: UTTypeSnapshot {
        let wanted = generation.load(ordering: .acquiring)
        if wanted == 0 { return .core }
        return state.withLock { state in
            let current = generation.load(ordering: .relaxed)
            if current == 0 { return .core }
            if state.snapshot.generation != current {
                let registrations = state.registrations.values.joined().sorted { $0.order < $1.order }
                state.snapshot = UTTypeSnapshot(registrations, generation: current)
            }
            return state.snapshot
        }
    }

    /// Makes a change visible. Call it with the lock held.
    private func publish(_ state: State) {
        let replaced = Set(state.replacedCoreTypes.values.joined())
        let bits = UTTypeSnapshot.bits(of: UTTypeRegistry.coreTypes(below: replaced))
        // The bits are set before the generation. A reader that sees a bit set uses the snapshot,
        // which is correct either way.
        for word in bits.indices { overrideBits[word].bitwiseOr(bits[word], ordering: .releasing) }
        let next = UTTypeRegistry.lastGeneration.add(1, ordering: .relaxed).newValue
        generation.store(state.registrations.isEmpty ? 0 : next, ordering: .releasing)
        for word in bits.indices { overrideBits[word].store(bits[word], ordering: .releasing) }
    }

    /// Returns core types and their subtypes.
    private static func coreTypes(below types: Set<CoreIndex>) -> [CoreIndex] {
        let table = CoreTable.shared
        return types.flatMap { type in (0..<CoreIndex(table.count)).filter { table.conforms($0, to: type) } }
    }

    // MARK: - Used by UTType

    @inline(__always)
    static var currentSnapshot: UTTypeSnapshot { shared.snapshot }

    @inline(__always)
    static var currentGeneration: UInt64 { shared.generation.load(ordering: .acquiring) }

    /// Returns `true` if the ancestors of a core type may differ from the table.
    @inline(__always)
    func overrides(_ core: CoreIndex) -> Bool {
        (overrideBits[Int(core >> 6)].load(ordering: .acquiring) >> UInt64(core & 63)) & 1 != 0
    }
}
