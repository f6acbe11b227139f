// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import Glibc

/// A manual that is open but not read yet.
package struct ManualFile: UnreadFile {
    /// The absolute path, which is the identifier of the item.
    package var path: String
    package var directories: [String]
    package var kind: ManualKind
    package var file: OpenedFile

    package static func kind(fileName: String) -> ManualKind? { ManualKind(fileName: fileName) }

    package init(_ file: OpenedFile, kind: ManualKind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.kind = kind
        self.file = file
    }

    /// The title of a manual whose text has none: `ls(1)`, `gcc`, `bash: README`.
    package var ownTitle: String {
        switch kind.format {
        case .page(let name, let section): "\(name)(\(section))"
        case .info(let name, nil): name
        case .info(let name, let part?): "\(name), part \(part)"
        case .text, .markdown, .html:
            directories.first.map { "\($0): \(uncompressedName)" } ?? uncompressedName
        }
    }

    /// The file name without the compression suffix.
    package var uncompressedName: String {
        guard kind.compression != nil, let dot = fileName.lastIndex(of: ".") else { return fileName }
        return String(fileName[..<dot])
    }

    /// The folder that contains section folders such as `man1`.
    var pageRoot: String? {
        let names = path.split(separator: "/")
        guard names.count >= 3, names[names.count - 2].hasPrefix("man") else { return nil }
        return "/" + names.dropLast(2).joined(separator: "/")
    }

    /// The language of a translated page, such as `pt_BR`, determined by its folder; nil for other
    /// pages.
    package var language: String? {
        guard let root = pageRoot?.split(separator: "/").last.map(String.init), root != "man" else { return nil }
        return FolderSettings.languageCode(root) == nil ? nil : root.split(separator: ".").first.map(String.init)
    }

    /// `true` if the name is a symbolic link, as additional names of a page are.
    var isLink: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}

extension FolderSettings {
    package static let manualsIdentifier = "com.searchlight.manuals"
    private static let maximumLanguages = 500

    /// Reads the user's settings for Manuals: the system's folders, the user's folders, and those
    /// that the settings add. Only translated pages in the environment's languages are served.
    package static func manuals(
        environment: [String: String] = ProcessInfo.processInfo.environment, system: String = "/usr",
        opener: FileOpener = .system
    ) throws(Skip) -> FolderSettings {
        let languages = Self.languages(environment)
        var folders: [DefaultFolder] = []
        for prefix in [system + "/share", system + "/local/share"] {
            var pages = DefaultFolder(absolute: prefix + "/man")
            pages.exclusions = foreignFolders(in: prefix + "/man", languages)
            folders += [pages, DefaultFolder(absolute: prefix + "/info"), DefaultFolder(absolute: prefix + "/doc")]
        }
        folders.append(DefaultFolder(data: "man"))
        let rules = Rules(identifier: manualsIdentifier, noun: "manual", defaults: folders, keepsDefaults: true)
        return try FolderSettings(rules, environment: environment, opener: opener)
    }

    /// Returns the codes of the user's languages except English, in which pages are written by
    /// default.
    static func languages(_ environment: [String: String]) -> Set<String> {
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        return Set(names.flatMap { $0.split(separator: ":") }.compactMap { languageCode(String($0)) })
    }

    /// Returns the language code in the name of a folder or locale, such as `pt` in `pt_BR.UTF-8`.
    static func languageCode(_ name: String) -> String? {
        let code = name.prefix { $0.isASCII && $0.isLetter }
        guard (2...3).contains(code.count), code.allSatisfy(\.isLowercase), code != "man" else { return nil }
        guard let next = name.dropFirst(code.count).first else { return String(code) }
        return "_.@".contains(next) ? String(code) : nil
    }

    /// Returns patterns for the folders of other languages.
    private static func foreignFolders(in folder: String, _ languages: Set<String>) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let foreign = names.sorted().filter { name in languageCode(name).map { !languages.contains($0) } ?? false }
        return foreign.prefix(maximumLanguages).map { "/\($0)/" }
    }
}
