// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Synchronization

/// A bundle's activity during a period.
package struct BundleActivity: Hashable, Sendable, Codable {
    /// The number of items donated by the bundle's extension, or by its app as a delegate.
    package var items = 0
    /// The number of failed reindexes.
    package var failures = 0
}

/// Counts the activity of bundles until the counts are taken.
final class ActivityCounts: Sendable {
    private let counts = Mutex<[String: BundleActivity]>([:])
    /// The bundles that were forgotten since the last call to ``takeForgotten()``.
    private let forgotten = Mutex<Set<String>>([])
    /// The maximum number of bundles. Further bundles are not counted until the counts are taken.
    private static let maximumBundles = 10_000

    /// Counts the items of an event.
    func take(_ event: ExtensionEvent) {
        guard case .donated(let bundle, let count) = event else { return }
        change(bundle) { $0.items = $0.items.addingReportingOverflow(max(0, count)).partialValue }
    }

    /// Counts a failed reindex.
    func noteFailure(of bundle: String) { change(bundle) { $0.failures += 1 } }

    func forget(_ bundle: String) {
        counts.withLock { $0[bundle] = nil }
        forgotten.withLock { if $0.count < Self.maximumBundles { $0.insert(bundle) } }
    }

    /// Returns the forgotten bundles and clears the set.
    func takeForgotten() -> Set<String> {
        forgotten.withLock { forgotten in
            defer { forgotten = [] }
            return forgotten
        }
    }

    /// Returns the counts and clears them.
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
    /// Returns the activity of each bundle since the last call, for a ledger. Bundles without
    /// activity are absent.
    package func takeActivity() -> [String: BundleActivity] { activity.takeAll() }

    /// Returns the bundles that were forgotten since the last call, so that the owner of a ledger
    /// forgets them too.
    package func takeForgotten() -> Set<String> { activity.takeForgotten() }
}
