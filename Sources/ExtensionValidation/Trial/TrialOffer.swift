// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Previews
import Promises
import ServiceMessages

/// A request about an item: for a promised type or for a preview.
struct TrialOffer: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case promise(Representation)
        /// A preview, with the path of the item's file if it has one.
        case preview(contentPath: String?)
    }
    var item: String
    var kind: Kind

    var description: String {
        switch kind {
        case .promise(let representation):
            switch representation.form {
            case .data: "\(item.quoted) as data of type \(representation.type)"
            case .file: "\(item.quoted) as a file of type \(representation.type)"
            case .inPlaceFile: "\(item.quoted) as its own file of type \(representation.type)"
            }
        case .preview: "the preview of \(item.quoted)"
        }
    }

    /// The kind of request, as in the errors of the host. It names no item.
    var purpose: String {
        let request: WorkerRequest =
            switch kind {
            case .promise(let representation) where representation.form == .data:
                .provideData(item: item, type: representation.type)
            case .promise(let representation):
                .provideFile(item: item, type: representation.type, inPlace: representation.form == .inPlaceFile)
            case .preview(let path): .preview(item: item, query: nil, contentPath: path)
            }
        return request.purpose
    }

    static func promises(of record: ItemRecord) -> [TrialOffer] {
        record.promisedRepresentations.map { TrialOffer(item: record.uniqueIdentifier, kind: .promise($0)) }
    }

    static func preview(of record: ItemRecord) -> TrialOffer {
        TrialOffer(item: record.uniqueIdentifier, kind: .preview(contentPath: record.contentPath))
    }
}

enum ExtensionAnswer: Sendable, Equatable {
    case data([UInt8])
    /// Data that exceeds ``Trial/maximumBytes``, with its length in bytes.
    case tooMuch(length: UInt64)
    /// A file with its name, its length and its first bytes.
    case file(name: String, length: Int, head: [UInt8])
    case preview(Rendering)
    /// The extension does not support this kind of request.
    case notServed
    /// The extension answered with a failure status and a message.
    case refused(ExtensionStatus, String)

    struct Attachment: Sendable, Equatable {
        var contentType: String
        var bytes: [UInt8]
    }

    struct Rendering: Sendable, Equatable {
        var contentType: String
        var title: String?
        var content: [UInt8]
        /// The attachments by identifier.
        var attachments: [String: Attachment] = [:]
    }

    /// `true` if the answer contains content.
    var isSomething: Bool {
        switch self {
        case .data, .tooMuch, .file, .preview: true
        case .notServed, .refused: false
        }
    }

    /// The answer in a few words.
    var summary: String {
        switch self {
        case .data(let bytes): "\(bytes.count) bytes"
        case .tooMuch(let length): "\(length) bytes"
        case .file(let name, let length, _): "the file \(name.quoted) of \(length) bytes"
        case .preview(let rendering): "a preview of \(rendering.content.count) bytes of \(rendering.contentType)"
        case .notServed: "nothing"
        case .refused(let status, let message): "“\(message)” (\(status))"
        }
    }
}

extension String {
    /// The text in quotation marks, for use in a sentence, shortened if it is long.
    var quoted: String {
        let shown = count > 80 ? prefix(80) + "…" : self[...]
        return shown.debugDescription
    }
}
