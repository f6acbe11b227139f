// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

/// A type as the user writes it: an identifier, a MIME type (text/html) or a filename extension
/// (.html).
public struct WrittenType: Sendable {
    private let text: String
    /// The type for a MIME type or an extension; `nil` if it is invalid.
    private let tagged: UTType?
    /// `true` for a MIME type or an extension.
    public let isTag: Bool

    /// Parses a type.
    ///
    /// - Parameter text: The text. Parameters in a MIME type, such as a character set, are ignored.
    public init(_ text: String) {
        self.text = text
        if text.hasPrefix(".") {
            isTag = true
            tagged = UTType(tag: String(text.dropFirst()), tagClass: .filenameExtension, conformingTo: .data)
        } else if text.contains("/") {
            isTag = true
            let name = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            tagged = UTType(tag: name, tagClass: .mimeType, conformingTo: .data)
        } else {
            isTag = false
            tagged = nil
        }
    }

    /// The identifier; a dynamic identifier for a MIME type or an extension that belongs to no
    /// declared type.
    public var identifier: String { tagged?.identifier ?? text }

    /// `true` if the type is declared.
    public var isDeclared: Bool { isTag ? tagged?.isDynamic == false : UTType(text) != nil }
}
