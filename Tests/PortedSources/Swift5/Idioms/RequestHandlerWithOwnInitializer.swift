// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

protocol NoteSource { var titles: [String] { get } }

struct StoredNotes: NoteSource { var titles = ["One"] }

class InjectedRequestHandler: CSIndexExtensionRequestHandler {
    private let source: NoteSource

    init(source: NoteSource) {
        self.source = source
        super.init()
    }

    convenience override init() { self.init(source: StoredNotes()) }
}

final class RenamingImporter: CSImportExtension {
    private let title: String

    init(title: String) {
        self.title = title
        super.init()
    }

    override func update(_ attributes: CSSearchableItemAttributeSet, forFileAt: URL) throws {
        attributes.title = title
    }
}
