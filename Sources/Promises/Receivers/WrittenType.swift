// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

/// A type as a person writes it: an identifier, a MIME type (text/html) or a file name extension (.html).
public struct WrittenType: Sendable {
    private let text: String
    /// What a MIME type or an extension is taken as; `nil` if it can be none.
    private let tagged: UTType?
    /// Whether it is a MIME type or an extension.
    public let isTag: Bool

    /// - Parameter text: Parameters of a MIME type, such as a character set, are passed over.
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

    /// The identifier; of a MIME type or an extension that belongs to no type, a dynamic one.
    public var identifier: String { tagged?.identifier ?? text }

    /// Whether somebody declares the type.
    public var isDeclared: Bool { isTag ? tagged?.isDynamic == false : UTType(text) != nil }
}
