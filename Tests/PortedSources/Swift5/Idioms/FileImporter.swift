// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

final class FileImporter: CSImportExtension {
    override func update(_ attributes: CSSearchableItemAttributeSet, forFileAt url: URL) throws {
        attributes.title = url.lastPathComponent
        attributes.textContent = try String(contentsOf: url, encoding: .utf8)
    }
}
