// SPDX-License-Identifier: Apache-2.0
import Promises
import SearchIndex

/// The types that a receiver accepts, as users write them: identifiers, MIME types (text/html) or
/// extensions (.html).
struct AcceptedTypes {
    private(set) var identifiers: [String] = []
    /// Notes on how the types were interpreted.
    private(set) var notes: [String] = []

    /// Interprets the texts.
    ///
    /// - Parameters:
    ///   - texts: The types as written, best first.
    ///   - item: The item to drop.
    init(_ texts: [String], for item: StoredItem) {
        let offered = Set(item.record.promisedRepresentations.map { $0.type.lowercased() })
        for text in texts {
            let type = WrittenType(text)
            identifiers.append(type.identifier)
            if !type.isTag {
                guard !type.isDeclared, !offered.contains(text.lowercased()) else { continue }
                notes.append(
                    "Nobody declares the type \(text), and the item does not offer it. Types are named like "
                        + "public.html; “searchlight types tree” lists them. A MIME type or .extension will do too."
                )
            } else if type.isDeclared {
                notes.append("\(text) is taken as \(type.identifier).")
            } else {
                notes.append("No type is declared for \(text).")
            }
        }
    }
}
