// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The pictures in a Markdown note that are embedded in its preview. They have relative URLs, are
/// in the folders that Journal serves, and are PNG, JPEG, GIF or WebP. All other URLs are ignored.
package struct NotePictures {
    /// An embedded picture.
    package struct Picture: Sendable {
        /// The name in the page's `cid:` URL.
        package let name: String
        /// The uniform type, detected from the first bytes.
        package let contentType: String
        package let bytes: Data
    }

    /// The pictures found so far, in the order in which they were requested.
    package private(set) var pictures: [Picture] = []
    private let note: String
    private let folders: NoteFolders
    /// The picture names by URL; nil for a URL without a picture.
    private var names: [String: String?] = [:]
    private var room = maximumBytes

    /// The maximum size of a picture, in bytes.
    static let maximumPictureBytes = 8 << 20
    /// The maximum total size of a note's pictures, in bytes. In base64, they take a third more of
    /// the page's 32 MiB.
    static let maximumBytes = 12 << 20
    /// The maximum number of URLs that are resolved for a note.
    static let maximumCount = 64
    private static let maximumAddressBytes = 2048

    /// - Parameter note: The absolute path of the note.
    package init(of note: String, in folders: NoteFolders) {
        self.note = note
        self.folders = folders
    }

    /// Returns the URL that replaces a URL in the page; nil to keep it.
    package mutating func reference(to address: String) -> String? {
        if let known = names[address] { return known.map { "cid:" + $0 } }
        guard names.count < Self.maximumCount else { return nil }
        let name = picture(at: address).map { bytes, type in
            let name = "picture-\(pictures.count + 1)"
            pictures.append(Picture(name: name, contentType: type, bytes: Data(bytes)))
            room -= bytes.count
            return name
        }
        names[address] = .some(name)
        return name.map { "cid:" + $0 }
    }

    private func picture(at address: String) -> (bytes: [UInt8], type: String)? {
        guard let path = Self.path(of: address, beside: note),
            let bytes = folders.bytes(ofFile: path, limit: min(room, Self.maximumPictureBytes)),
            let type = Self.type(of: bytes)
        else { return nil }
        return (bytes, type)
    }

    /// Returns the absolute path for a relative URL; nil for an absolute path or a URL with a
    /// scheme or host.
    static func path(of address: String, beside note: String) -> String? {
        guard address.utf8.count <= maximumAddressBytes else { return nil }
        let relative = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let first = relative.prefix { $0 != UInt8(ascii: "/") }
        guard !first.isEmpty, !first.contains(UInt8(ascii: ":")),
            let name = String(Substring(relative)).removingPercentEncoding
        else { return nil }
        var components = note.utf8.split(separator: UInt8(ascii: "/")).dropLast().map { String(Substring($0)) }
        for component in name.utf8.split(separator: UInt8(ascii: "/")) {
            switch String(Substring(component)) {
            case ".": break
            case "..": if components.popLast() == nil { return nil }
            case let component: components.append(component)
            }
        }
        return "/" + components.joined(separator: "/")
    }

    /// Returns the uniform type of an image, determined by its first bytes; nil for any other file.
    static func type(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "public.png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "public.jpeg" }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return "com.compuserve.gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            return "org.webmproject.webp"
        }
        return nil
    }
}
