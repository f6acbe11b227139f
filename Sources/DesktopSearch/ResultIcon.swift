// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// The icon of a result: a name from the Icon Naming Specification for the kind of its content.
package struct ResultIcon: Hashable, Sendable {
    /// The names in the icon theme, most specific first. The last one exists in every theme.
    package let names: [String]

    /// The name that exists in every theme.
    package var generic: String { names.last ?? Self.unknown }

    private static let unknown = "text-x-generic"
    /// The maximum length of a specific name, in bytes.
    private static let maximumBytes = 100

    /// The generic names by type. A type precedes its supertypes.
    private static let generic: [(type: UTType, name: String)] = [
        (.folder, "folder"), (.vCard, "x-office-address-book"), (.contact, "x-office-address-book"),
        (.calendarEvent, "x-office-calendar"), (.presentation, "x-office-presentation"),
        (.spreadsheet, "x-office-spreadsheet"), (.pdf, "x-office-document"), (.emailMessage, "mail-read"),
        (.message, "mail-read"), (.bookmark, "text-html"), (.html, "text-html"), (.font, "font-x-generic"),
        (.script, "text-x-script"), (.archive, "package-x-generic"), (.image, "image-x-generic"),
        (.movie, "video-x-generic"), (.audio, "audio-x-generic"),
    ]

    /// Chooses the icon for a uniform type identifier.
    package init(contentType: String?) {
        guard let type = contentType.flatMap({ UTType($0) }) else {
            names = [Self.unknown]
            return
        }
        let name = Self.generic.first { type.conforms(to: $0.type) }?.name ?? Self.unknown
        // Themes name a MIME type's icon after it, with a dash instead of the slash.
        let specific = type.preferredMIMEType.map { String($0.map { $0 == "/" ? "-" : $0 }) }
        names = [specific].compactMap { $0.flatMap { Self.isName($0) ? $0 : nil } }.filter { $0 != name } + [name]
    }

    /// Returns `true` if a text can be a name in an icon theme rather than a path.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumBytes
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-._+".utf8.contains(byte)
            }
    }
}
