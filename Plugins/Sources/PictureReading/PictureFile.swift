// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// A picture that is open but not read yet.
package struct PictureFile: UnreadFile {
    /// The absolute path, which is the item's identifier.
    package var path: String
    package var directories: [String]
    package var kind: PictureKind
    package var file: OpenedFile

    package static func kind(fileName: String) -> PictureKind? { PictureKind(fileName: fileName) }

    package init(_ file: OpenedFile, kind: PictureKind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.kind = kind
        self.file = file
    }
}

extension FolderSettings {
    /// Reads the user's settings for Pictures. Without a settings file, Pictures serves the
    /// pictures folder and the downloads folder.
    package static func pictures(
        environment: [String: String] = ProcessInfo.processInfo.environment, opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        let rules = Rules(
            identifier: PictureSettings.identifier, noun: "picture", defaults: [.pictures, .downloads])
        return try FolderSettings(rules, environment: environment, opener: opener)
    }
}
