// SPDX-License-Identifier: Apache-2.0

/// The identifier of a message's item: the folder, the Message-ID, and in a Maildir the unique part
/// of the file name, which does not change when the flags change.
///
/// - In a Maildir: `/home/ada/Maildir//file:1700000000.M1P2.host//id@example.org`
/// - In an mbox: `/home/ada/Mail/inbox//id:id@example.org`
///
/// A folder's path never contains `//`, and a file name never contains a slash. When a message
/// moves to another folder, its item is renamed, so that it remains the same item.
package struct MessageIdentifier: Sendable, Hashable {
    /// The host's limit for an identifier, in bytes.
    static let maximumBytes = 4096

    /// The absolute path of the Maildir, or of the mbox file.
    package var folder: String
    package var message: String
    /// The unique part of the file name; nil in an mbox.
    package var unique: String?

    package init(folder: String, message: String, unique: String?) {
        self.folder = folder
        self.message = message
        self.unique = unique
    }

    /// Reads an identifier; nil if its format is unknown.
    package init?(_ text: String) {
        // Compares bytes: in a comparison of characters, a combining character after a separator
        // would hide the separator.
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "/"), let end = bytes.firstRange(of: "//".utf8),
            end.lowerBound > bytes.startIndex
        else { return nil }
        let folder = bytes[..<end.lowerBound]
        let parts = folder.split(separator: UInt8(ascii: "/"))
        if parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) }) { return nil }
        let rest = bytes[end.upperBound...]
        let message: Substring.UTF8View
        if rest.starts(with: Self.messageMark.utf8) {
            message = rest.dropFirst(Self.messageMark.utf8.count)
        } else if rest.starts(with: Self.fileMark.utf8) {
            let parts = rest.dropFirst(Self.fileMark.utf8.count)
            guard let slashes = parts.firstRange(of: "//".utf8), slashes.lowerBound > parts.startIndex else {
                return nil
            }
            unique = String(Substring(parts[..<slashes.lowerBound]))
            message = parts[slashes.upperBound...]
        } else {
            return nil
        }
        if message.isEmpty { return nil }
        self.folder = String(Substring(folder))
        self.message = String(Substring(message))
    }

    package static func == (one: MessageIdentifier, other: MessageIdentifier) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for part in [folder, unique ?? "", message] {
            for byte in part.utf8 { hasher.combine(byte) }
        }
    }

    private static let messageMark = "id:"
    private static let fileMark = "file:"

    package var text: String {
        guard let unique else { return Self.prefix(of: folder) + Self.messageMark + message }
        return Self.prefix(of: folder, unique: unique) + message
    }

    /// Returns the common prefix of the identifiers of a folder's messages.
    package static func prefix(of folder: String) -> String { folder + "//" }

    /// Returns the prefix of a Maildir file's identifier.
    package static func prefix(of folder: String, unique: String) -> String {
        prefix(of: folder) + fileMark + unique + "//"
    }

    /// `true` if the host accepts the identifier.
    package var isAcceptable: Bool { text.utf8.count <= Self.maximumBytes && !text.utf8.contains(0) }
}
