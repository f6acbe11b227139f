// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The types that bundles add to the core table at run time, and take away again.
///
/// Safe from any thread. Writers serialise; readers take the current ``snapshot``, which never changes. A new one is built
/// at the first question after a change, so that registering many bundles in a row costs one build.
public final class UTTypeRegistry: Sendable {
    /// The registry that all `UTType` values ask.
    public static let shared = UTTypeRegistry()

    /// The most bundles that can be registered at a time.
    public static let maximumBundles = 4096

    struct Registration: Sendable {
        let bundle: String
        /// Its folder, if that is known.
        let directory: String?
        let declaration: UTTypeDeclaration
        /// Grows with every registration; the youngest wins among equals.
        let order: Int
    }

    private struct State {
        var registrations: [String: [Registration]] = [:]
        /// The core types each bundle replaces; few bundles replace any.
        var replacedCoreTypes: [String: [CoreIndex]] = [:]
        var nextOrder = 0
        var snapshot = UTTypeSnapshot.core
    }

    /// Generations are unique in the process, so that an answer kept for one registry is never taken for another's.
    private static let lastGeneration = Atomic<UInt64>(0)

    private let state = Mutex(State())
    private let generation = Atomic<UInt64>(0)
    /// Which core types may stand elsewhere than in the table, one bit each.
    private let overrideBits = InlineArray<16, Atomic<UInt64>> { _ in Atomic(0) }

    /// Makes a registry of its own, for tests or for tools that must not touch the shared one.
    public init() {}

    /// Registers what a bundle declares, in place of what it declared before.
    ///
    /// - Parameters:
    ///   - declarations: All its declarations.
    ///   - bundle: Its identifier.
    ///   - directory: Its folder, for `UTTypeCopyDeclaringBundleURL`.
    /// - Returns: What is wrong with single declarations. What shows only in the company of others is in
    ///   ``UTTypeSnapshot/diagnostics``.
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

    /// Takes away everything a bundle declares. Types of it that are still held keep their identifiers.
    ///
    /// - Returns: Whether the bundle had declarations.
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

    /// All types as they are declared now.
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

    /// Makes a change visible; called with the lock held.
    private func publish(_ state: State) {
        let replaced = Set(state.replacedCoreTypes.values.joined())
        let bits = UTTypeSnapshot.bits(of: UTTypeRegistry.coreTypes(below: replaced))
        // The bits first: whoever sees one looks into the snapshot, which is right either way.
        for word in bits.indices { overrideBits[word].bitwiseOr(bits[word], ordering: .releasing) }
        let next = UTTypeRegistry.lastGeneration.add(1, ordering: .relaxed).newValue
        generation.store(state.registrations.isEmpty ? 0 : next, ordering: .releasing)
        for word in bits.indices { overrideBits[word].store(bits[word], ordering: .releasing) }
    }

    /// Some core types and those below them.
    private static func coreTypes(below types: Set<CoreIndex>) -> [CoreIndex] {
        let table = CoreTable.shared
        return types.flatMap { type in (0..<CoreIndex(table.count)).filter { table.conforms($0, to: type) } }
    }

    // MARK: - What UTType asks

    @inline(__always)
    static var currentSnapshot: UTTypeSnapshot { shared.snapshot }

    @inline(__always)
    static var currentGeneration: UInt64 { shared.generation.load(ordering: .acquiring) }

    /// Whether a core type may stand elsewhere than in the table.
    @inline(__always)
    func overrides(_ core: CoreIndex) -> Bool {
        (overrideBits[Int(core >> 6)].load(ordering: .acquiring) >> UInt64(core & 63)) & 1 != 0
    }
}
