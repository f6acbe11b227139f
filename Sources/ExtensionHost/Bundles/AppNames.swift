// SPDX-License-Identifier: Apache-2.0

/// The names of an extension's own folders: the identifier of its bundle, and that of its app's desktop entry.
///
/// Such a name has three parts at least, and the first is a top-level domain as they are written: letters alone. So it is
/// no name that a shell, a service manager or a tool looks for: `nvim`, `user-tmpfiles.d`, `p10k-instant-prompt-ann.b.zsh`.
struct AppNames: Hashable, Sendable {
    /// The bundle's own first; those that are no app's name are not among them.
    let names: [String]

    private static let suffix = ".desktop"
    private static let domainLengths = 2...63

    init(bundle: String, desktopEntry: String?) {
        var names = [bundle]
        if let desktopEntry, desktopEntry.hasSuffix(Self.suffix) {
            names.append(String(desktopEntry.dropLast(Self.suffix.count)))
        }
        self.names = names.filter(Self.isAppName)
    }

    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Whether a folder of this name is an app's own.
    static func isAppName(_ name: String) -> Bool {
        guard ExtensionManifest.isAppIdentifier(name, parts: 3) else { return false }
        let domain = name.utf8.prefix { $0 != UInt8(ascii: ".") }
        return domainLengths.contains(domain.count) && domain.allSatisfy { (0x61...0x7A).contains($0) }
    }
}
