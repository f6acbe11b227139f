// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The settings for copies of pictures.
///
/// `$XDG_CONFIG_HOME/com.searchlight.pictures/settings` contains one `key = value` per line. Lines
/// that begin with `#` are comments.
package struct PictureSettings: Sendable, Equatable {
    package static let identifier = "com.searchlight.pictures"
    package static let copySizes = 16...16384

    /// `copy-size`: the maximum width and height of a copy, in pixels.
    package var copySize = 2048
    /// `copy-location`: `true` if a copy includes where the picture was taken.
    package var copiesLocation = true

    package init() {}

    /// Reads the user's settings.
    ///
    /// - Throws: The fault in the file. No copy is made in this case, since it could include the
    ///   location that the user wants to exclude.
    package init(environment: [String: String]) throws(PictureSettingsError) {
        let home = environment["HOME"] ?? NSHomeDirectory()
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
        let file = "\(configuration)/\(Self.identifier)/settings"
        switch FolderSettings.contents(of: file) {
        case .success(let text): try read(text, from: file)
        case .failure(.vanished): break
        case .failure(let reason): throw PictureSettingsError(description: Skip(path: file, reason: reason).description)
        }
    }

    private mutating func read(_ text: String, from file: String) throws(PictureSettingsError) {
        for (number, line) in LineIterator(text[...]).enumerated() {
            let line = line.trimmed
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }
            switch (parts.first, parts.count == 2 ? parts[1] : nil) {
            case ("copy-size", let value?):
                guard let size = Int(value), Self.copySizes.contains(size) else {
                    throw Self.problem(file, line: number + 1)
                }
                copySize = size
            case ("copy-location", "yes"): copiesLocation = true
            case ("copy-location", "no"): copiesLocation = false
            default: throw Self.problem(file, line: number + 1)
            }
        }
    }

    private static func problem(_ file: String, line: Int) -> PictureSettingsError {
        PictureSettingsError(
            description: "\(file.onOneLine), line \(line): write copy-size = PIXELS (from \(copySizes.lowerBound) to "
                + "\(copySizes.upperBound)) or copy-location = yes or no")
    }
}

/// The error for settings that cannot be read.
package struct PictureSettingsError: Error, Equatable, CustomStringConvertible {
    package var description: String
}
