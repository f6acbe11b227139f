// SPDX-License-Identifier: Apache-2.0
import Promises
import SearchIndex

/// The types a receiver accepts, as a person writes them: identifiers, MIME types (text/html) or extensions (.html).
struct AcceptedTypes {
    private(set) var identifiers: [String] = []
    /// What to tell about how they were taken.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - texts: As they were given, best first.
    ///   - item: What is to be dropped.
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
