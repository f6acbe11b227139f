// SPDX-License-Identifier: Apache-2.0

/// Whose items are meant: everything is kept apart by bundle and by index.
public struct IndexScope: Hashable, Sendable, Codable {
    /// The bundle identifier of the app.
    public var bundle: String
    /// The name of the index; `nil` is the default one.
    public var index: String?

    /// Creates a scope.
    public init(bundle: String, index: String? = nil) {
        self.bundle = bundle
        self.index = index
    }
}
