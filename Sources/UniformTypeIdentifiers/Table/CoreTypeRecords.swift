// SPDX-License-Identifier: Apache-2.0

/// The declared types as text. `Scripts/generate-uniform-types` writes the sections.
enum CoreTypeRecords {
    /// The types of one origin, one a line: identifier, parents, extensions, MIME types, further tags and recorded
    /// preferences, description; separated by `|` and `,`.
    struct Section: Sendable {
        let origin: CoreTable.Origin
        /// How many types there are.
        let count: Int
        let text: StaticString

        /// Live as long as the program.
        var bytes: UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        }
    }

    /// All of them, in the order of their origins' raw values.
    static let sections = [exported, imported, elsewhere]
}
