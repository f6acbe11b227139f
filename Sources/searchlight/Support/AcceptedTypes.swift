// SPDX-License-Identifier: Apache-2.0
import Promises
import SearchIndex

/// The types that a receiver accepts, as written by users: identifiers, MIME types (text/html) or
/// extensions (.html).
struct AcceptedTypes {
    private(set) var identifiers: [String] = []
    /// Notes on how the types were interpreted.
    private(set) var notes: [String] = []

    /// Interprets the types.
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
                    "The type \(text) is not declared, and the item does not offer it. Use a type such as "
                        + "public.html (“searchlight types tree” lists them), a MIME type or a file name .extension."
                )
            } else if type.isDeclared {
                notes.append("\(text) means the type \(type.identifier).")
            } else {
                notes.append("No type is declared for \(text).")
            }
        }
    }
}
