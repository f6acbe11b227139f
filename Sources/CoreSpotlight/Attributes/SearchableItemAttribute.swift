// SPDX-License-Identifier: Apache-2.0

/// The name of an item attribute, for sources that return attributes with their results.
///
/// ```swift
/// let context = CSSearchQueryContext()
/// context.fetchAttributes = [SearchableItemAttribute.title, .contentURL].map(\.rawValue)
/// ```
///
/// - Note: Differs on Linux: no Spotlight search tool takes attributes, because Foundation Models
///   does not exist. The raw values are names for ``CSSearchQueryContext/fetchAttributes``.
public struct SearchableItemAttribute: RawRepresentable, Hashable, Sendable {
    /// The name of a property of ``CSSearchableItemAttributeSet``, or of a custom key.
    public let rawValue: String

    /// Creates the name of a property or of a custom key.
    public init(rawValue: String) { self.rawValue = rawValue }
}
