// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

final class NoteIndexer {
    private(set) var failures = 0

    func index(_ notes: [String]) {
        let items = notes.map { note -> CSSearchableItem in
            let attributeSet = CSSearchableItemAttributeSet(contentType: .text)
            attributeSet.title = note
            attributeSet.contentDescription = "A note"
            attributeSet.keywords = ["note", note]
            return CSSearchableItem(uniqueIdentifier: note, domainIdentifier: "notes", attributeSet: attributeSet)
        }
        CSSearchableIndex.default().indexSearchableItems(items) { error in
            if let error = error {
                print("Indexing error: \(error.localizedDescription)")
            } else {
                print("Indexed \(notes.count) notes")
            }
        }
    }
}
