// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport

extension SearchlightEngine {
    /// The user-visible name of a bundle: the name of its extension, or else the name in the app's
    /// desktop entry, or else its identifier.
    package func displayName(of bundle: String) -> String {
        let manifest = registry.extensions.first { $0.identifier == bundle }?.manifest
        if let name = manifest?.displayName, name != bundle, !name.isEmpty { return name }
        let entry = manifest?.access.desktopEntry ?? bundle + ".desktop"
        return DesktopEntryName.find(entry, environment: configuration.worker.environment) ?? bundle
    }
}

/// The name in a desktop entry, by the rules of its specification.
enum DesktopEntryName {
    /// The maximum size of a file in bytes. Larger files are skipped.
    private static let maximumBytes = 64 << 10
    private static let maximumCharacters = 80

    /// Finds the name in the first desktop entry of a file name.
    ///
    /// - Parameters:
    ///   - entry: The file's name, such as `org.example.app.desktop`.
    ///   - environment: The variables with the data folders and the user's language.
    static func find(_ entry: String, environment: [String: String]) -> String? {
        guard entry.utf8.count <= 255, !entry.utf8.contains(UInt8(ascii: "/")), !entry.utf8.contains(0),
            let folders = UserFolders(environment: environment)
        else { return nil }
        let language =
            ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        for data in [folders.data] + folders.sharedData {
            guard let bytes = try? BoundedFile.regular("\(data)/applications/\(entry)", limit: maximumBytes),
                let text = String(validating: bytes, as: UTF8.self)
            else { continue }
            // The first existing file counts.
            return name(in: text, language: language).map { String($0.prefix(maximumCharacters)) }
        }
        return nil
    }

    /// The value of `Name[LANGUAGE_COUNTRY]`, `Name[LANGUAGE]` or `Name` in the group
    /// `[Desktop Entry]`.
    static func name(in text: String, language: String) -> String? {
        let locale = language.prefix { $0 != "." && $0 != "@" }
        var values: [Substring: Substring] = [:]
        var isInEntry = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isInEntry = line == "[Desktop Entry]" }
            guard isInEntry, line.hasPrefix("Name"), let equals = line.firstIndex(of: "=") else { continue }
            let key = line[..<equals].trimmingSuffix(while: { $0 == " " })
            values[key] = values[key] ?? line[line.index(after: equals)...].drop { $0 == " " }
        }
        let keys = ["Name[\(locale)]", "Name[\(locale.prefix { $0 != "_" })]", "Name"]
        return keys.lazy.compactMap { values[$0[...]] }.first { !$0.isEmpty }.map(String.init)
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var end = endIndex
        while end > startIndex, isTrimmed(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
