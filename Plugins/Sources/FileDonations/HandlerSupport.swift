// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

/// The error for a type that an item does not promise.
package struct UnsupportedType: Error, Equatable, CustomStringConvertible {
    package var description: String

    /// - Parameter noun: The noun for the item, with its article, such as "A note".
    package init(_ type: String, of noun: String, supported: [String]) {
        description = "\(noun) is not available as \(type), only as \(supported.joined(separator: " or "))."
    }
}

/// Writes a line to standard error, which the host collects.
package func printToStandardError(_ line: String) {
    // A closed standard error leaves no other way to report the line.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}

/// The number of items that the validator requests; 0 for all.
package let requestedSample =
    ProcessInfo.processInfo.environment["SEARCHLIGHT_SAMPLE_ITEMS"].flatMap { Int($0) } ?? 0

extension CSSearchableItemAttributeSet {
    /// Records how many bytes of the text are not indexed, under the key
    /// SEARCHLIGHT_MISSING_TEXT_BYTES from `searchlight_extension.h`.
    package func setMissingText(_ bytes: Int64) {
        guard bytes > 0, let key = CSCustomAttributeKey(keyName: "com_searchlight_missingTextBytes") else { return }
        setValue(NSNumber(value: bytes), forCustomKey: key)
    }
}
