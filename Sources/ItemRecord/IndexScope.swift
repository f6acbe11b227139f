// SPDX-License-Identifier: Apache-2.0

/// A bundle and one of its indexes. Items in different scopes are independent.
public struct IndexScope: Hashable, Sendable, Codable {
    /// The bundle identifier of the app.
    public var bundle: String
    /// The name of the index; `nil` for the default index.
    public var index: String?

    /// Creates a scope.
    public init(bundle: String, index: String? = nil) {
        self.bundle = bundle
        self.index = index
    }
}
