// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The folders that Journal indexes: those of `com.searchlight.journal/folders`, else the desktop's
/// documents folder (`XDG_DOCUMENTS_DIR` of `user-dirs.dirs`, else `~/Documents`).
package typealias JournalSettings = FolderSettings

extension FolderSettings {
    /// Reads Journal's settings of the user whose environment this is.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) {
        let rules = Rules(identifier: "com.searchlight.journal", noun: "note", defaults: [.documents])
        try self.init(rules, environment: environment, opener: opener)
    }

    package var noteFolders: NoteFolders { servedFolders() }
}
