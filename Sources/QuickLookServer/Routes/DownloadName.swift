// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import UniformTypeIdentifiers

/// The file name and media type of a download, both of which come from items and extensions.
enum DownloadName {
    private static let maximumCharacters = 60
    private static let maximumBytes = 180

    /// Returns a file name for an item and a type.
    static func suggested(title: String, type: String) -> String {
        let ending = tagged(type).lazy.compactMap(\.preferredFilenameExtension).first.map { "." + safe($0) } ?? ""
        let stem = safe(title)
        return stem.lowercased().hasSuffix(ending.lowercased()) ? stem : stem + ending
    }

    /// Returns a name without path separators, leading dots, or characters that have a meaning in
    /// headers or drag URLs.
    static func safe(_ name: String) -> String {
        let line = DisplayText.line(name, limit: 4 * maximumCharacters).map {
            "/\\:\"<>|*?\u{FFFD}".contains($0) ? "-" : $0
        }
        var stem = String(line).trimmingCharacters(in: .whitespaces).drop { $0 == "." || $0 == " " }
            .prefix(maximumCharacters)
        while stem.utf8.count > maximumBytes { stem.removeLast() }
        return stem.isEmpty ? "item" : String(stem)
    }

    /// Returns the value of `Content-Disposition`: an ASCII name, and the exact name according to
    /// RFC 6266.
    ///
    /// - Parameter isShown: `true` for the browser's own viewer, which uses the name when the user
    ///   saves the document.
    static func disposition(_ name: String, isShown: Bool = false) -> String {
        let plain = String(name.unicodeScalars.map { $0.isASCII && isPlain($0) ? Character($0) : "-" })
        let encoded = name.utf8.map { byte in
            isPlain(Unicode.Scalar(byte)) && byte != UInt8(ascii: " ")
                ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "\(isShown ? "inline" : "attachment"); filename=\"\(plain)\"; filename*=UTF-8''\(encoded.joined())"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", " ": true
        default: false
        }
    }

    /// Returns the media type for a uniform type. An invalid declared media type is ignored,
    /// because it could inject a header.
    static func mediaType(of type: String) -> String {
        guard let found = tagged(type).lazy.compactMap(\.preferredMIMEType).first,
            found.wholeMatch(of: /[A-Za-z0-9!#$&^_.+\-]{1,60}\/[A-Za-z0-9!#$&^_.+\-]{1,80}/) != nil
        else { return "application/octet-stream" }
        return found
    }

    /// Returns the type, followed by plain text if it is a text type, because some text types have
    /// no tags of their own.
    private static func tagged(_ type: String) -> [UTType] {
        guard let type = UTType(type) else { return [] }
        return type.conforms(to: .plainText) ? [type, .plainText] : [type]
    }
}
