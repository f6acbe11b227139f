// SPDX-License-Identifier: Apache-2.0

/// The names of an extension's own folders: the bundle's identifier and the name of its app's
/// desktop entry.
///
/// A manifest may name any desktop entry, so the entry is ignored unless the bundle is named after
/// it. The bundle has the same name or adds parts to it (`org.example.Notes.search` for
/// `org.example.Notes.desktop`).
///
/// Such a name has at least three parts. The first part is a top-level domain and consists of
/// letters only. So the name cannot be one that a shell, a service manager or a tool searches for:
/// `nvim`, `user-tmpfiles.d`, `p10k-instant-prompt-ann.b.zsh`.
struct AppNames: Hashable, Sendable {
    /// The bundle's name, or `nil` if it is not the name of an app.
    let own: String?
    /// The app's name, if it differs from the bundle's and is the name of an app.
    let app: String?
    /// All names; the bundle's is first.
    var names: [String] { [own, app].compactMap { $0 } }

    private static let suffix = ".desktop"
    private static let domainLengths = 2...63

    init(bundle: String, desktopEntry: String?) {
        own = Self.isAppName(bundle) ? bundle : nil
        let entry = desktopEntry.flatMap { $0.hasSuffix(Self.suffix) ? $0.dropLast(Self.suffix.count) : nil }
        app = entry.map(String.init).flatMap { name in
            // Compares bytes, because an identifier has no letters with two encodings.
            Self.isAppName(name) && bundle.utf8.starts(with: (name + ".").utf8) ? name : nil
        }
    }

    /// Returns `true` if a folder of this name, in a folder for all apps' data, belongs to the
    /// extension.
    ///
    /// In the settings folder (`isSettings`), only the bundle's own name is accepted, because the
    /// app's settings belong to the app.
    func contains(_ name: String, isSettings: Bool = false) -> Bool {
        (isSettings ? [own].compactMap { $0 } : names).contains { $0.utf8.elementsEqual(name.utf8) }
    }

    /// Returns `true` if a folder of this name can only belong to one app.
    static func isAppName(_ name: String) -> Bool {
        guard ExtensionManifest.isAppIdentifier(name, parts: 3) else { return false }
        let domain = name.utf8.prefix { $0 != UInt8(ascii: ".") }
        return domainLengths.contains(domain.count) && domain.allSatisfy { (0x61...0x7A).contains($0) }
    }
}
