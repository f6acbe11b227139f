// SPDX-License-Identifier: Apache-2.0
import UniformTypeIdentifiers

/// The media types that stand for promised types in a drag.
enum MediaType {
    static let addresses = "text/uri-list"
    /// Plain text, in the order in which receivers should try the names.
    static let texts = ["text/plain;charset=utf-8", "text/plain"]

    /// The media types of a uniform type, best first; empty if it has none.
    static func names(of identifier: String) -> [String] {
        guard let type = UTType(identifier) else { return [] }
        if isPlainText(type) { return texts }
        guard let name = type.preferredMIMEType, isName(name), !name.hasPrefix("text/plain"), name != addresses
        else { return [] }
        return [name]
    }

    /// The uniform types that a receiver of a media type accepts.
    static func types(of name: String, among promised: [String]) -> [String] {
        promised.filter { names(of: $0).contains(name) }
    }

    /// `true` for plain text in UTF-8 or ASCII. Receivers expect that encoding.
    private static func isPlainText(_ type: UTType) -> Bool {
        type == .plainText || type == .utf8PlainText || type == .text
            || type.conforms(to: .plainText) && type.preferredMIMEType == nil && !type.conforms(to: .utf16PlainText)
    }

    /// `true` for a text that has the form of a media type. Extensions declare types, so a text may
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
