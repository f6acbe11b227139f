// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension FolderSettings {
    /// Reads the settings of Contacts: the folders of address books that exist, and the folders
    /// that the user has named.
    package static func contacts(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        let rules = Rules(
            identifier: "com.searchlight.contacts", noun: "card",
            defaults: [
                DefaultFolder(data: "evolution/addressbook"), DefaultFolder(data: "contacts"),
                DefaultFolder(home: ".contacts"), DefaultFolder(home: "Contacts"),
            ], keepsDefaults: true)
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
