// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// The media types that represent promised types in a drag.
enum MediaType {
    static let addresses = "text/uri-list"
    /// A key of the file-transfer portal, which gives a receiver in a sandbox access to a file. GTK
    /// 3 and early versions of GTK 4 know the second name only.
    static let fileTransfers = ["application/vnd.portal.filetransfer", "application/vnd.portal.files"]
    /// Plain text, in the order in which receivers should try the names.
    static let texts = ["text/plain;charset=utf-8", "text/plain"]

    /// Returns the media types for a uniform type, best first; empty if it has none.
    static func names(of identifier: String) -> [String] {
        guard let type = UTType(identifier) else { return [] }
        if isPlainText(type) { return texts }
        guard let name = type.preferredMIMEType, isName(name), !name.hasPrefix("text/plain"), name != addresses,
            !fileTransfers.contains(name)
        else { return [] }
        return [name]
    }

    /// Returns the uniform types that a receiver of a media type accepts.
    static func types(of name: String, among promised: [String]) -> [String] {
        promised.filter { names(of: $0).contains(name) }
    }

    /// Returns `true` for plain text in UTF-8 or ASCII, which are the encodings that receivers
    /// expect.
    private static func isPlainText(_ type: UTType) -> Bool {
        type == .plainText || type == .utf8PlainText || type == .text
            || type.conforms(to: .plainText) && type.preferredMIMEType == nil && !type.conforms(to: .utf16PlainText)
    }

    /// Returns `true` if a text has the form of a media type. Extensions declare types, so it may
    /// be anything.
    private static func isName(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 2 && text.utf8.count <= 140
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                            || "!#$&^_.+-".utf8.contains(byte)
                    }
            }
    }
}
