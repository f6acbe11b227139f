// SPDX-License-Identifier: Apache-2.0

/// The name of an attribute of an item, for sources that return attributes with their results.
///
/// ```swift
/// let context = CSSearchQueryContext()
/// context.fetchAttributes = [SearchableItemAttribute.title, .contentURL].map(\.rawValue)
/// ```
///
/// - Note: Differs on Linux: there is no Spotlight search tool that takes attributes, because
///   Foundation Models is not there. The raw values are names for
///   ``CSSearchQueryContext/fetchAttributes``.
public struct SearchableItemAttribute: RawRepresentable, Hashable, Sendable {
    /// The name of the property of ``CSSearchableItemAttributeSet``, or of a custom key.
    public let rawValue: String

    /// Creates the name of a property or of a custom key.
    public init(rawValue: String) { self.rawValue = rawValue }
}
