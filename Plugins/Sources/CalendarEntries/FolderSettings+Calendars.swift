// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension FolderSettings {
    /// Reads the settings of Calendars: the folders of calendars that exist, and the folders that
    /// the user has named.
    package static func calendars(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        let rules = Rules(
            identifier: "com.searchlight.calendars", noun: "entry",
            defaults: [
                DefaultFolder(data: "evolution/calendar"), DefaultFolder(data: "evolution/tasks"),
                DefaultFolder(data: "evolution/memos"), DefaultFolder(data: "khal/calendars"),
                DefaultFolder(data: "calendars"), DefaultFolder(home: ".calendars"), DefaultFolder(home: "Calendars"),
            ], keepsDefaults: true)
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
