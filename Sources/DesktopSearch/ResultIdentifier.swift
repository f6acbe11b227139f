// SPDX-License-Identifier: Apache-2.0

/// The identifier of a result in the desktop's search, such as `item:12`. It contains the item's
/// number, so it is the same in every search, and desktops may store it.
///
/// ```swift
/// ResultIdentifier(item: 12).text          // "item:12"
/// ResultIdentifier("item:12")?.item        // 12
/// ```
package struct ResultIdentifier: Hashable, Sendable {
    /// The number of the item in its store.
    package let item: Int64

    private static let prefix = "item:"
    /// The maximum length of an identifier in bytes.
    private static let maximumBytes = 24

    /// Creates the identifier for an item.
    package init(item: Int64) { self.item = item }

    /// Reads an identifier that a desktop sends back; `nil` unless it has exactly the format that
    /// ``text`` produces.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.hasPrefix(Self.prefix) else { return nil }
        guard let number = Int64(text.dropFirst(Self.prefix.count)), number > 0 else { return nil }
        self.init(item: number)
        guard self.text == text else { return nil }
    }

    /// The identifier as text.
    package var text: String { "\(Self.prefix)\(item)" }
}
