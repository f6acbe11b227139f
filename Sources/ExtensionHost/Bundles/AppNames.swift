// SPDX-License-Identifier: Apache-2.0

/// The names of an extension's own folders: the identifier of its bundle, and that of its app's desktop entry.
///
/// The bundle has to be named after the app, since anybody may write any name of an entry into a manifest: either the same, or the
/// same with more parts (`org.example.Notes.search` for `org.example.Notes.desktop`).
///
/// Such a name has three parts at least, and the first is a top-level domain as they are written: letters alone. So it is
/// no name that a shell, a service manager or a tool looks for: `nvim`, `user-tmpfiles.d`, `p10k-instant-prompt-ann.b.zsh`.
struct AppNames: Hashable, Sendable {
    /// That of the bundle; `nil` if it is no app's name.
    let own: String?
    /// That of the app, where it is another; `nil` likewise.
    let app: String?
    /// The bundle's own first.
    var names: [String] { [own, app].compactMap { $0 } }

    private static let suffix = ".desktop"
    private static let domainLengths = 2...63

    init(bundle: String, desktopEntry: String?) {
        own = Self.isAppName(bundle) ? bundle : nil
        let entry = desktopEntry.flatMap { $0.hasSuffix(Self.suffix) ? $0.dropLast(Self.suffix.count) : nil }
        app = entry.map(String.init).flatMap { name in
            // By bytes: an identifier has no letters with two spellings.
            Self.isAppName(name) && bundle.utf8.starts(with: (name + ".").utf8) ? name : nil
        }
    }

    /// Whether a folder for all apps' settings has the extension's own by this name, or another one for apps' data does.
    ///
    /// What an app is configured by is its own.
    func contains(_ name: String, isSettings: Bool = false) -> Bool {
        (isSettings ? [own].compactMap { $0 } : names).contains { $0.utf8.elementsEqual(name.utf8) }
    }

    /// Whether a folder of this name is an app's own.
    static func isAppName(_ name: String) -> Bool {
        guard ExtensionManifest.isAppIdentifier(name, parts: 3) else { return false }
        let domain = name.utf8.prefix { $0 != UInt8(ascii: ".") }
        return domainLengths.contains(domain.count) && domain.allSatisfy { (0x61...0x7A).contains($0) }
    }
}
