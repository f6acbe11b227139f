// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The folders that Journal indexes: those in `com.searchlight.journal/folders`, or else the
/// desktop's documents folder (`XDG_DOCUMENTS_DIR` in `user-dirs.dirs`, or else `~/Documents`).
package typealias JournalSettings = FolderSettings

extension FolderSettings {
    /// Reads the user's settings for Journal.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) {
        let rules = Rules(identifier: "com.searchlight.journal", noun: "note", defaults: [.documents])
        try self.init(rules, environment: environment, opener: opener)
    }

    package var noteFolders: NoteFolders { servedFolders() }
}
