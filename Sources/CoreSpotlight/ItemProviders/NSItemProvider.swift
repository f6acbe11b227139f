// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import UniformTypeIdentifiers

/// An item in several forms, each made when it is asked for: what is dragged, pasted or shared.
///
/// Representations are in the order in which they were registered, which is that of their fidelity, the best first. Of a
/// type and kind the first counts. Loading a type yields the first representation of that type or of one that conforms to
/// it. Handlers that load and handlers that receive are called on a queue of the library, never on the main thread. Errors
/// are `NSError`s of ``errorDomain``, those that handlers give, or `CocoaError.userCancelled`.
///
/// `Transferable` is part of CoreTransferable, which Linux does not have, so neither are the methods that take it.
open class NSItemProvider: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: what can change is read and written under the lock only.

    private struct State {
        var representations: [ItemRepresentation] = []
        var suggestedName: String?
        var previewImageHandler: LoadHandler?
        /// Copies that somebody may still read; removed with the provider.
        var copies: [TemporaryCopy] = []
    }

    private let state = Mutex(State())

    /// A provider without representations.
    public override init() {}

    /// A provider of what the object can be turned into.
    public convenience init(object: any NSItemProviderWriting) {
        self.init()
        registerObject(object, visibility: .all)
    }

    /// A provider of an item that is there already; see ``loadItem(forTypeIdentifier:options:completionHandler:)``. Without
    /// item or type it has no representation.
    public init(item: (any NSSecureCoding)?, typeIdentifier: String?) {
        super.init()
        guard let item, let typeIdentifier else { return }
        let shared = HandedOn(item)
        registerItem(forTypeIdentifier: typeIdentifier) { completion, _, _ in completion?(shared.value, nil) }
    }

    /// A provider of a file, which may be opened where it lies. Its type is that of the filename extension, `public.data` if
    /// that is unknown; `nil` if the URL is not that of a file.
    public convenience init?(contentsOf fileURL: URL!) {
        guard let fileURL, fileURL.isFileURL else { return nil }
        self.init(contentsOf: fileURL, contentType: nil, openInPlace: true)
    }

    /// A provider of a file.
    ///
    /// - Parameters:
    ///   - contentType: the type; `nil` for that of the filename extension, `public.data` if that is unknown.
    ///   - openInPlace: whether receivers may open the file where it lies.
    ///   - coordinated: handed to receivers, for which it has no effect.
    /// - Note: Differs on Linux: there is no file coordination.
    public convenience init(
        contentsOf fileURL: URL, contentType: UTType?, openInPlace: Bool = false, coordinated: Bool = false,
        visibility: NSItemProviderRepresentationVisibility = .all
    ) {
        self.init()
        let type = contentType ?? UTType(filenameExtension: fileURL.pathExtension) ?? .data
        suggestedName = fileURL.lastPathComponent
        registerFileRepresentation(for: type, visibility: visibility, openInPlace: openInPlace) { completion in
            completion(fileURL, coordinated, nil)
            return nil
        }
    }

    /// A provider with the same representations.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSItemProvider()
        let (representations, name, preview) = state.withLock {
            ($0.representations, $0.suggestedName, $0.previewImageHandler)
        }
        copy.state.withLock {
            $0.representations = representations
            $0.suggestedName = name
            $0.previewImageHandler = preview
        }
        return copy
    }

    /// What the item would be called as a file.
    open var suggestedName: String? {
        get { state.withLock { $0.suggestedName } }
        set { state.withLock { $0.suggestedName = newValue } }
    }

    /// Makes a picture of the item.
    open var previewImageHandler: LoadHandler? {
        get { state.withLock { $0.previewImageHandler } }
        set { state.withLock { $0.previewImageHandler = newValue } }
    }

    /// All representations, the best first.
    var representations: [ItemRepresentation] { state.withLock { $0.representations } }

    /// Adds a representation, unless there is one of its type and kind.
    func add(_ representation: ItemRepresentation) {
        state.withLock { state in
            let isKnown = state.representations.contains { known in
                guard known.typeIdentifier == representation.typeIdentifier else { return false }
                return switch (known.content, representation.content) {
                case (.file(_, let mine), .file(_, let theirs)): mine == theirs
                case (.data, .data), (.item, .item), (.item, .data), (.data, .item): true
                default: false
                }
            }
            if !isKnown { state.representations.append(representation) }
        }
    }

    /// Keeps a copy until the provider goes.
    func keep(_ copy: TemporaryCopy) { state.withLock { $0.copies.append(copy) } }

    deinit { for copy in state.withLock({ $0.copies }) { copy.remove() } }

    // MARK: Types

    /// The types of all representations, the best first.
    open var registeredTypeIdentifiers: [String] { registeredTypeIdentifiers(fileOptions: []) }

    /// The types of the representations that are offered in these ways, the best first.
    open func registeredTypeIdentifiers(fileOptions: NSItemProviderFileOptions = []) -> [String] {
        var identifiers: [String] = []
        for representation in representations where representation.allows(fileOptions) {
            if !identifiers.contains(representation.typeIdentifier) {
                identifiers.append(representation.typeIdentifier)
            }
        }
        return identifiers
    }

    /// The types of all representations, the best first; identifiers that name no type are left out.
    open var registeredContentTypes: [UTType] { registeredTypeIdentifiers.compactMap { UTType($0) } }

    /// The types of the files that may be opened where they lie, the best first.
    open var registeredContentTypesForOpenInPlace: [UTType] {
        registeredTypeIdentifiers(fileOptions: .openInPlace).compactMap { UTType($0) }
    }

    /// The types that conform to a type, the best first.
    open func registeredContentTypes(conformingTo contentType: UTType) -> [UTType] {
        registeredContentTypes.filter { $0.conforms(to: contentType) }
    }

    /// Whether there is a representation of a type, or of one that conforms to it.
    open func hasItemConformingToTypeIdentifier(_ typeIdentifier: String) -> Bool {
        hasRepresentationConforming(toTypeIdentifier: typeIdentifier, fileOptions: [])
    }

    /// Whether there is a representation of a type, or of one that conforms to it, that is offered in these ways.
    open func hasRepresentationConforming(
        toTypeIdentifier typeIdentifier: String, fileOptions: NSItemProviderFileOptions = []
    ) -> Bool {
        representation(of: typeIdentifier, fileOptions) != nil
    }

    /// The first representation of a type, or of one that conforms to it.
    func representation(of typeIdentifier: String, _ options: NSItemProviderFileOptions = []) -> ItemRepresentation? {
        representations.first { $0.allows(options) && $0.conforms(to: typeIdentifier) }
    }
}
