// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A part of a reply that its HTML may refer to.
public struct PreviewAttachment: Sendable {
    /// The name in the HTML, with or without `cid:`.
    public var identifier: String
    /// The declared uniform type.
    public var contentType: String
    /// The contents.
    public var bytes: ArraySlice<UInt8>

    /// Creates an attachment.
    public init(identifier: String, contentType: String, bytes: ArraySlice<UInt8>) {
        self.identifier = identifier
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// Converts `img` references to `data:` URLs, so that one document contains everything. The bytes
/// must be a picture.
struct PictureStore {
    private let attachments: [String: PreviewAttachment]
    private var inlined: [String: Result<[UInt8], Refusal>] = [:]

    /// The error for a reference that does not lead to a picture.
    struct Refusal: Error {
        let kind: Removal.Kind
    }

    private static let maximumAddressBytes = 2048
    private static let maximumNameBytes = 255

    init(_ attachments: [PreviewAttachment]) {
        self.attachments = Dictionary(attachments.map { ($0.identifier, $0) }) { first, _ in first }
    }

    /// The names of attachments whose bytes do not match the declared type.
    var mistyped: [String] {
        attachments.values.filter { ContentSniffer.mismatch(Array($0.bytes), type: $0.contentType) != nil }
            .map(\.identifier).sorted()
    }

    /// Returns the `data:` URL for the picture at an address.
    mutating func picture(_ address: [UInt8]) throws(Refusal) -> [UInt8] {
        if address.prefix(5).map(lowered) == Array("data:".utf8) { return try data(address) }
        guard address.count <= Self.maximumAddressBytes else { throw Refusal(kind: .remoteLoad) }
        let text = String(decoding: address, as: UTF8.self)
        let isReference = text.lowercased().hasPrefix("cid:")
        let name = isReference ? String(text.dropFirst(4)) : text
        if let known = inlined[name] { return try known.get() }
        if let attachment = attachments[name] {
            let result = Result { () throws(Refusal) in try Self.inlined(attachment.bytes) }
            inlined[name] = result
            return try result.get()
        }
        if isReference { throw Refusal(kind: .missingAttachment) }
        if text.lowercased().hasPrefix("file:") || text.hasPrefix("/") && !text.hasPrefix("//") || text.hasPrefix("..")
        {
            throw Refusal(kind: .fileReference)
        }
        // A plain name, without a scheme or a host.
        let isPlain =
            !text.contains { $0 == ":" || $0 == "/" || $0 == "\\" } && text.utf8.count <= Self.maximumNameBytes
        throw Refusal(kind: isPlain ? .missingAttachment : .remoteLoad)
    }

    /// Rewrites a base64 `data:` URL that contains a picture.
    private func data(_ address: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let comma = address.prefix(Self.maximumAddressBytes).firstIndex(of: UInt8(ascii: ",")) else {
            throw Refusal(kind: .unusablePicture)
        }
        guard address[..<comma].map(lowered).suffix(7) == Array(";base64".utf8)[...],
            let bytes = Data(base64Encoded: Data(address[(comma + 1)...].filter { !isSpace($0) }))
        else { throw Refusal(kind: .unusablePicture) }
        return try Self.inlined(Array(bytes)[...])
    }

    private static func inlined(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        guard let header = ImageHeader(bytes) else { throw Refusal(kind: .unusablePicture) }
        guard !header.isTooLarge else { throw Refusal(kind: .hugePicture) }
        return Array("data:\(header.mediaType);base64,".utf8) + Array(Data(bytes).base64EncodedData())
    }
}
