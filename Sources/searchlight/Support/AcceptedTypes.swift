// SPDX-License-Identifier: Apache-2.0
import Foundation
import Promises
import SearchIndex
import UniformTypeIdentifiers

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
            let tag: (kind: UTTagClass, value: String)? =
                if text.hasPrefix(".") {
                    (.filenameExtension, String(text.dropFirst()))
                } else if text.contains("/") {
                    (.mimeType, String(text.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces))
                } else { nil }
            guard let tag else {
                identifiers.append(text)
                if UTType(text) == nil, !offered.contains(text.lowercased()) {
                    notes.append(
                        "Nobody declares the type \(text), and the item does not offer it. Types are named like "
                            + "public.html; “searchlight types tree” lists them. A MIME type or .extension will do too."
                    )
                }
                continue
            }
            let type = UTType(tag: tag.value, tagClass: tag.kind, conformingTo: .data)
            identifiers.append(type?.identifier ?? text)
            if let type, !type.isDynamic {
                notes.append("\(text) is taken as \(type.identifier).")
            } else {
                notes.append("No type is declared for \(text).")
            }
        }
    }
}
