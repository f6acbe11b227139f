// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ItemRecord
import Promises
import UniformTypeIdentifiers

/// The media types that a dragged item offers, and the promise behind each. A value without
/// effects.
///
/// ```swift
/// let offer = DragOffer(record)
/// offer.mediaTypes                      // ["text/html", "text/plain;charset=utf-8", "text/plain"]
/// offer.answer(to: "text/html")         // .content(resolution)
/// ```
package struct DragOffer: Hashable, Sendable {
    /// The answer to a receiver that requests a media type.
    package enum Answer: Hashable, Sendable {
        /// The bytes of a representation.
        case content(PromiseResolution)
        /// The URL of a copy of a representation, or its key of the file-transfer portal.
        case copy(PromiseResolution)
        /// The URL of the original, or its key of the file-transfer portal.
        case original(PromiseResolution)
        /// A text that is available without the item's app.
        case text(String)
    }

    /// The media types, best first.
    package let mediaTypes: [String]
    private let answers: [String: Answer]

    /// The maximum number of media types. Some receivers request every type.
    private static let maximumTypes = 32

    /// Returns `true` for a media type whose content the file-transfer portal makes, and which is
    /// only offered if there is a portal.
    package static func isFileTransfer(_ mediaType: String) -> Bool { MediaType.fileTransfers.contains(mediaType) }

    /// Returns `true` for the media type of a list of files.
    package static func isFileList(_ mediaType: String) -> Bool { mediaType == MediaType.addresses }

    /// Creates the offer for an item: its promised data and files by media type, and a URI list for
    /// an original, a file, or data that is not text. An item with a web URL also offers that URL
    /// as text. Text gets no URL of a copy, because editors would prefer the URL to the text. A
    /// file with a URL is also offered through the file-transfer portal.
    package init(_ record: ItemRecord) {
        var types: [String] = []
        var answers: [String: Answer] = [:]
        func add(_ name: String, _ answer: @autoclosure () -> Answer?) {
            guard types.count < Self.maximumTypes, answers[name] == nil, let answer = answer() else { return }
            types.append(name)
            answers[name] = answer
        }
        func resolution(_ accepted: [String], _ forms: [Representation.Form]) -> PromiseResolution? {
            let resolution = PromiseResolution(record, accepted: accepted, preferring: .source, forms: forms)
            return resolution.choice == nil ? nil : resolution
        }
        func addFile(_ resolution: PromiseResolution?, _ answer: (PromiseResolution) -> Answer) {
            guard let resolution, let choice = resolution.choice else { return }
            add(MediaType.addresses, answer(resolution))
            // Some versions of the portal refuse folders.
            guard !Self.isFolder(choice.type) else { return }
            for name in MediaType.fileTransfers { add(name, answer(resolution)) }
        }
        let streams = record.promisedRepresentations([.data, .file]).filter { !Self.isFolder($0.type) }.map(\.type)
        let originals = record.promisedRepresentations([.inPlaceFile]).map(\.type)
        let files = record.promisedRepresentations([.file]).map(\.type)
        let pictures = record.promisedRepresentations([.data]).map(\.type).filter { !Self.isText($0) }
        if !originals.isEmpty {
            addFile(resolution(originals, [.inPlaceFile])) { .original($0) }
        } else if !files.isEmpty {
            addFile(resolution(files, [.file])) { .copy($0) }
        }
        for type in streams {
            for name in MediaType.names(of: type) {
                add(name, resolution(MediaType.types(of: name, among: streams), [.data, .file]).map { .content($0) })
            }
        }
        if let address = record.text("url").flatMap(Self.webAddress) {
            // Not as a URI list: editors, viewers and file managers prefer it to the text, and then
            // fail to open the address as a file.
            for name in MediaType.texts { add(name, .text(address)) }
        }
        if !pictures.isEmpty, answers[MediaType.addresses] == nil {
            addFile(resolution(pictures, [.data])) { .copy($0) }
        }
        (mediaTypes, self.answers) = (types, answers)
    }

    /// Returns the answer to a request; `nil` for a media type that is not offered.
    package func answer(to mediaType: String) -> Answer? { answers[mediaType] }

    private static func isFolder(_ identifier: String) -> Bool {
        UTType(identifier).map { $0.conforms(to: .directory) || $0.conforms(to: .package) } ?? false
    }

    private static func isText(_ identifier: String) -> Bool {
        UTType(identifier).map { $0.conforms(to: .text) || $0.conforms(to: .url) } ?? true
    }

    private static func webAddress(_ text: String) -> String? {
        guard case .url(let address)? = LaunchResource(url: text) else { return nil }
        return ["http:", "https:"].contains { address.lowercased().hasPrefix($0) } ? address : nil
    }
}
