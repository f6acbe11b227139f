// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// What a bundle has done in some time.
package struct BundleActivity: Hashable, Sendable, Codable {
    /// How many items its extension, or its app as a delegate, has donated.
    package var items = 0
    /// How many reindexes have failed.
    package var failures = 0
}

/// Counts what bundles do, until somebody takes the figures.
final class ActivityCounts: Sendable {
    private let counts = Mutex<[String: BundleActivity]>([:])
    /// The bundles that were forgotten since that was last asked.
    private let forgotten = Mutex<Set<String>>([])
    /// The most bundles; of more nothing is counted until the figures are taken.
    private static let maximumBundles = 10_000

    /// Counts the items of an event.
    func take(_ event: ExtensionEvent) {
        guard case .donated(let bundle, let count) = event else { return }
        change(bundle) { $0.items = $0.items.addingReportingOverflow(max(0, count)).partialValue }
    }

    /// Counts a reindex that failed.
    func noteFailure(of bundle: String) { change(bundle) { $0.failures += 1 } }

    func forget(_ bundle: String) {
        counts.withLock { $0[bundle] = nil }
        forgotten.withLock { if $0.count < Self.maximumBundles { $0.insert(bundle) } }
    }

    /// Gives the names away and begins anew.
    func takeForgotten() -> Set<String> {
        forgotten.withLock { forgotten in
            defer { forgotten = [] }
            return forgotten
        }
    }

    /// Gives the figures away and begins anew.
    func takeAll() -> [String: BundleActivity] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }

    private func change(_ bundle: String, _ body: (inout BundleActivity) -> Void) {
        counts.withLock { counts in
            guard counts[bundle] != nil || counts.count < Self.maximumBundles else { return }
            body(&counts[bundle, default: BundleActivity()])
        }
    }
}

extension SearchlightEngine {
    /// What bundles have done since this was last asked, for a ledger; those that did nothing are not in it.
    package func takeActivity() -> [String: BundleActivity] { activity.takeAll() }

    /// The bundles that were forgotten since this was last asked, so that whoever keeps a ledger forgets them too.
    package func takeForgotten() -> Set<String> { activity.takeForgotten() }
}
