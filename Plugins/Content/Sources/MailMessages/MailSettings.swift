// SPDX-License-Identifier: Apache-2.0
internal import Foundation
import Glibc

/// The folders in which Mail looks for messages.
///
/// These are the usual folders of mail programs, and the paths in
/// `$XDG_CONFIG_HOME/com.searchlight.mail/folders`, one per line. Lines that begin with `#` are
/// comments, and `~/` is the home directory. A line `!pattern` excludes folders by path, by name,
/// or by a parent folder's name; `*` matches any characters. `+trash` and `+spam` include folders
/// that are excluded by default.
package struct MailSettings: Sendable, Equatable {
    /// The maximum size of the settings file, in bytes; a larger file is an error.
    static let maximumSize = 64 << 10
    static let maximumPatterns = 1000

    /// The default folders, below the home directory or `XDG_DATA_HOME`. The manifest must declare
    /// the same folders.
    static let usualFolders = ["~/Mail", "~/Maildir", "~/.mail", "$XDG_DATA_HOME/evolution/mail"]
    /// Thunderbird's folder. It also contains passwords, so Mail reads it only if the user adds it
    /// to the settings.
    static let thunderbirdFolder = "~/.thunderbird"

    /// The absolute paths, without a trailing slash and without duplicates.
    package var folders: [String] = []
    package var exclusions: [String] = []
    package var includesTrash = false
    package var includesSpam = false
    /// The problems with individual lines. If there is one, some folders are unknown, and no
    /// message is considered deleted because it is in none of the folders.
    package var problems: [String] = []
    /// The paths that the user listed. The default folders do not have to exist.
    package var named: Set<String> = []
    /// Thunderbird's folder, if it exists and the settings do not list it.
    package var unnamedThunderbird: String?

    package init() {}

    /// Reads the user's settings.
    ///
    /// - Parameter environment: Supplies `HOME`, `XDG_CONFIG_HOME` and `XDG_DATA_HOME`.
    /// - Throws: A ``MailSettingsError`` if the file exists but cannot be read, because the folders
    ///   are then unknown.
    package init(environment: [String: String]) throws(MailSettingsError) {
        let home = Self.normalized(environment["HOME"] ?? "") ?? Self.normalized(NSHomeDirectory()) ?? "/"
        let configuration = Self.normalized(environment["XDG_CONFIG_HOME"] ?? "") ?? home + "/.config"
        let data = Self.normalized(environment["XDG_DATA_HOME"] ?? "") ?? home + "/.local/share"
        let file = configuration + "/com.searchlight.mail/folders"
        for folder in Self.usualFolders {
            let path = folder.replacing("$XDG_DATA_HOME", with: data, maxReplacements: 1)
            add(path.hasPrefix("~") ? home + path.dropFirst() : path)
        }
        if let text = try Self.contents(of: file) { read(text, from: file, home: home) }
        let thunderbird = home + Self.thunderbirdFolder.dropFirst()
        if !MailFolders.isServed(thunderbird, self), access(thunderbird + "/profiles.ini", F_OK) == 0 {
            unnamedThunderbird = thunderbird
        }
    }

    private mutating func read(_ text: String, from file: String, home: String) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingPrefix { $0.isWhitespace }
            let end = line.lastIndex { !$0.isWhitespace }.map { line.index(after: $0) } ?? line.startIndex
            let entry = String(line[..<end])
            switch entry {
            case "": continue
            case "+trash": includesTrash = true
            case "+spam": includesSpam = true
            default:
                if entry.hasPrefix("#") { continue }
                let isExclusion = entry.hasPrefix("!")
                let value = isExclusion ? String(entry.dropFirst()) : entry
                let expanded = value == "~" ? home : value.hasPrefix("~/") ? home + value.dropFirst() : value
                if isExclusion {
                    if exclusions.count < Self.maximumPatterns, !expanded.isEmpty { exclusions.append(expanded) }
                } else if let path = Self.normalized(expanded) {
                    add(path)
                    named.insert(path)
                } else {
                    problems.append(
                        "\(file), line \(number + 1): not an absolute path below / without “..”; until it is repaired no "
                            + "message is deleted")
                }
            }
        }
    }

    private mutating func add(_ path: String) {
        if !folders.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { folders.append(path) }
    }

    /// `true` if a pattern excludes the folder or one of its parent folders: by path, by a name in
    /// the path below the root, or by a displayed name.
    ///
    /// - Parameter name: The displayed name, such as `Archive/2024`.
    package func excludes(_ folder: String, in root: String, named name: String) -> Bool {
        guard !exclusions.isEmpty else { return false }
        let names = name.split(separator: "/").map(String.init)
        var path = folder
        while path.utf8.count >= root.utf8.count {
            let last = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.index(after: $0)...]) } ?? path
            for exclusion in exclusions {
                let candidates = exclusion.hasPrefix("/") ? [path] : names + [last]
                if candidates.contains(where: { fnmatch(exclusion, $0, 0) == 0 }) { return true }
            }
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return false }
            path = String(path[..<slash])
        }
        return false
    }

    /// Returns the path with single slashes and without `.`. Returns nil for relative paths, for
    /// `/` itself, and for paths with `..` or zero bytes.
    static func normalized(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        let kept = components.filter { $0 != "." }
        if kept.isEmpty || kept.contains("..") { return nil }
        return "/" + kept.joined(separator: "/")
    }

    private static func contents(of path: String) throws(MailSettingsError) -> String? {
        do throws(LeftOutReason) {
            let file = try OpenFile(path)
            guard file.size <= maximumSize else { throw .tooLarge }
            return String(decoding: try file.read(at: 0, count: maximumSize), as: UTF8.self)
        } catch .notThere {
            return nil
        } catch {
            throw MailSettingsError(path: path, reason: error == .tooLarge ? "it is too large" : "\(error)")
        }
    }
}

/// The error for a settings file that cannot be read.
package struct MailSettingsError: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var reason: String

    package var description: String { "the settings in \(path) cannot be read: \(reason)" }
}
