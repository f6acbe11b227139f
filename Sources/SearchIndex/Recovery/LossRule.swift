// SPDX-License-Identifier: Apache-2.0

/// Decides whether a repair may lose items.
///
/// A repair that loses nothing is always allowed. A repair that loses items is allowed only if
/// every bundle with items can donate them again. The closure may be called from any thread, even
/// while the database is locked, so it must not use the index.
package struct LossRule: Sendable {
    /// Returns the bundles that cannot donate their items again; `nil` if that is unknown. The
    /// argument lists the bundles that have data in the index; `nil` if they cannot be read.
    let irreplaceable: @Sendable (_ bundles: [String]?) -> [String]?

    /// Creates a rule.
    package init(irreplaceable: @escaping @Sendable (_ bundles: [String]?) -> [String]?) {
        self.irreplaceable = irreplaceable
    }

    /// The rule for repairs that the user requested: every loss is accepted.
    package static let acceptsLosses = LossRule { _ in [] }

    /// Checks a repair that loses items.
    ///
    /// - Parameters:
    ///   - path: The store's folder.
    ///   - detail: The damage, for the message.
    ///   - bundles: The bundles that have data in the index; `nil` if they cannot be read.
    /// - Throws: ``SearchIndexError/losingRepair(path:detail:bundles:)`` if the repair is not
    ///   allowed.
    func check(path: String, detail: String, bundles: [String]?) throws(SearchIndexError) {
        let lone = irreplaceable(bundles)
        guard lone?.isEmpty == true else {
            throw .losingRepair(path: path, detail: detail, bundles: lone ?? [])
        }
    }
}
