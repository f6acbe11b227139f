// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

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
    // What subclasses override must stand in the class itself: members of extensions cannot be overridden.

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

    /// A provider of an item that is there already; see ``loadItem(forTypeIdentifier:options:completionHandler:)``. Without
    /// item or type it has no representation.
    public init(item: (any NSSecureCoding)?, typeIdentifier: String?) {
        super.init()
        guard let item, let typeIdentifier else { return }
        let shared = HandedOn(item)
        registerItem(forTypeIdentifier: typeIdentifier) { completion, _, _ in completion?(shared.value, nil) }
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

    // MARK: Registering

    /// Offers data of a type.
    ///
    /// - Parameter loadHandler: called each time the data is wanted. It calls what it is given once, with data or an error,
    ///   and returns what tells how far it is and can be cancelled, or `nil`.
    @preconcurrency
    open func registerDataRepresentation(
        forTypeIdentifier typeIdentifier: String, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: visibility, content: .data(loadHandler)))
    }

    /// Offers data of a type; see ``registerDataRepresentation(forTypeIdentifier:visibility:loadHandler:)``.
    @preconcurrency
    open func registerDataRepresentation(
        for contentType: UTType, visibility: NSItemProviderRepresentationVisibility = .all,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        registerDataRepresentation(
            forTypeIdentifier: contentType.identifier, visibility: visibility, loadHandler: loadHandler)
    }

    /// Offers a file of a type.
    ///
    /// - Parameters:
    ///   - fileOptions: whether receivers may open the file where it lies, instead of a copy.
    ///   - loadHandler: called each time the file is wanted. It calls what it is given once, with a file, or with an error;
    ///     the truth value, whether the file must be coordinated, has no effect on Linux. A file that is not opened in place
    ///     is copied before the call returns.
    @preconcurrency
    open func registerFileRepresentation(
        forTypeIdentifier typeIdentifier: String, fileOptions: NSItemProviderFileOptions = [],
        visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (URL?, Bool, (any Error)?) -> Void) -> Progress?
    ) {
        add(
            ItemRepresentation(
                typeIdentifier: typeIdentifier, visibility: visibility,
                content: .file(loadHandler, opensInPlace: fileOptions.contains(.openInPlace))))
    }

    /// Offers a file, or a folder, of a type; see
    /// ``registerFileRepresentation(forTypeIdentifier:fileOptions:visibility:loadHandler:)``.
    @preconcurrency
    open func registerFileRepresentation(
        for contentType: UTType, visibility: NSItemProviderRepresentationVisibility = .all, openInPlace: Bool = false,
        loadHandler: @escaping @Sendable (@escaping @Sendable (URL?, Bool, (any Error)?) -> Void) -> Progress?
    ) {
        registerFileRepresentation(
            forTypeIdentifier: contentType.identifier, fileOptions: openInPlace ? .openInPlace : [],
            visibility: visibility, loadHandler: loadHandler)
    }

    /// Offers an item of a type; see ``loadItem(forTypeIdentifier:options:completionHandler:)``.
    @preconcurrency
    open func registerItem(forTypeIdentifier typeIdentifier: String, loadHandler: @escaping LoadHandler) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: .all, content: .item(loadHandler)))
    }

    /// Offers an object in all types that it can be turned into. Types that are registered already stay as they are.
    open func registerObject(
        _ object: any NSItemProviderWriting, visibility: NSItemProviderRepresentationVisibility
    ) {
        // Only asked for data, which providers on Apple's systems do from any thread too.
        let shared = HandedOn(object)
        for type in object.writableTypeIdentifiersForItemProvider {
            registerDataRepresentation(forTypeIdentifier: type, visibility: visibility) { completion in
                shared.value.loadData(withTypeIdentifier: type, forItemProviderCompletionHandler: completion)
            }
        }
    }

    /// Offers an object that is made when it is wanted, in all types that its class can be turned into. Types that are
    /// registered already stay as they are.
    @preconcurrency
    open func registerObject(
        ofClass aClass: any NSItemProviderWriting.Type, visibility: NSItemProviderRepresentationVisibility,
        loadHandler:
            @escaping @Sendable (
                @escaping @Sendable ((any NSItemProviderWriting)?, (any Error)?) -> Void
            ) -> Progress?
    ) {
        for type in aClass.writableTypeIdentifiersForItemProvider {
            registerDataRepresentation(forTypeIdentifier: type, visibility: visibility) { completion in
                loadHandler { object, error in
                    if let object {
                        _ = object.loadData(withTypeIdentifier: type, forItemProviderCompletionHandler: completion)
                    } else {
                        completion(nil, error)
                    }
                }
            }
        }
    }

    // MARK: Loading

    /// Loads data of a type.
    ///
    /// A file is read.
    ///
    /// - Note: Differs on Linux: a folder cannot be loaded as data and fails with ``ErrorCode/unavailableCoercionError``,
    ///   where Apple's systems make a zip archive. The library has no archiver among its dependencies and does not bring one
    ///   into every app for this. Load the folder as a file.
    /// - Parameter completionHandler: called once, on a queue of the library, with data or an error.
    /// - Returns: how far it is; cancelling it ends the loading with `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    open func loadDataRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress { loadData(typeIdentifier, completionHandler) }

    /// Loads data of a type; see ``loadDataRepresentation(forTypeIdentifier:completionHandler:)``.
    @preconcurrency
    @discardableResult
    open func loadDataRepresentation(
        for contentType: UTType, completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress {
        loadDataRepresentation(forTypeIdentifier: contentType.identifier, completionHandler: completionHandler)
    }

    /// Loads a copy of a file of a type. The copy is deleted when the handler returns: move it away, or read it there. It is
    /// called ``suggestedName`` if that is set.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file or an error.
    /// - Returns: how far it is; cancelling it ends the loading with `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    open func loadFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: false) { url, _, error in completionHandler(url, error) }
    }

    /// Loads a file of a type: the original if that is wanted and offered, else a copy.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file and whether it is the original, or
    ///   with an error. A copy is deleted when the handler returns.
    @preconcurrency
    @discardableResult
    open func loadFileRepresentation(
        for contentType: UTType, openInPlace: Bool = false,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(contentType.identifier, inPlace: openInPlace, completionHandler)
    }

    /// Loads a file of a type: the original if it is offered, else a copy.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with a file and whether it is the original, or
    ///   with an error. A copy is deleted when the handler returns: there is no file coordination to wait for.
    @preconcurrency
    @discardableResult
    open func loadInPlaceFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: true, completionHandler)
    }

    /// Loads an item of a type, as whatever object it is: an item that was registered as it is, data as `NSData`, a file as
    /// the `NSURL` of the original, or of a copy that stays as long as the provider.
    ///
    /// - Note: Differs on Linux: the compiler warns of `item as? URL` and the like, as if they always failed. They do not:
    ///   what can be cast on Apple's systems is cast. `(item as Any?) as? URL` is free of the warning.
    /// - Parameter completionHandler: called once, on a queue of the library, with an item or an error. Nothing is loaded
    ///   without it, for there is nobody to load for.
    @preconcurrency
    open func loadItem(
        forTypeIdentifier typeIdentifier: String, options: [AnyHashable: Any]? = nil,
        completionHandler: CompletionHandler? = nil
    ) {
        loadItem(typeIdentifier, options, completionHandler)
    }

    /// Loads an item of a type; see the form with a handler.
    ///
    /// - Throws: What the form with a handler hands it as error.
    open func loadItem(
        forTypeIdentifier typeIdentifier: String, options: [AnyHashable: Any]? = nil
    ) async throws -> any NSSecureCoding {
        try await withCheckedThrowingContinuation { continuation in
            loadItem(forTypeIdentifier: typeIdentifier, options: options) { item, error in
                continuation.resume(with: Self.result(item, error, typeIdentifier).map { HandedOn($0) })
            }
        }.value
    }

    /// Loads a picture of the item, which ``previewImageHandler`` makes; without one there is none.
    @preconcurrency
    open func loadPreviewImage(options: [AnyHashable: Any]! = nil, completionHandler: CompletionHandler!) {
        loadPreviewImage(options, completionHandler)
    }

    /// Loads a picture of the item; see the form with a handler.
    ///
    /// - Throws: What the form with a handler hands it as error.
    open func loadPreviewImage(options: [AnyHashable: Any]! = nil) async throws -> any NSSecureCoding {
        try await withCheckedThrowingContinuation { continuation in
            loadPreviewImage(options: options) { item, error in
                continuation.resume(with: Self.result(item, error, UTType.image.identifier).map { HandedOn($0) })
            }
        }.value
    }

    // MARK: Objects

    /// Whether objects of a class can be made from what is here.
    open func canLoadObject(ofClass aClass: any NSItemProviderReading.Type) -> Bool {
        aClass.readableTypeIdentifiersForItemProvider.contains { representation(of: $0) != nil }
    }

    /// Loads an object of a class, from the type that the class likes best of those that are here.
    ///
    /// - Parameter completionHandler: called once, on a queue of the library, with an object or an error.
    /// - Returns: how far it is; cancelling it ends the loading with `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    open func loadObject(
        ofClass aClass: any NSItemProviderReading.Type,
        completionHandler: @escaping @Sendable ((any NSItemProviderReading)?, (any Error)?) -> Void
    ) -> Progress {
        let wanted = aClass.readableTypeIdentifiersForItemProvider
        let type = wanted.first { representation(of: $0) != nil } ?? wanted.first ?? ""
        let handed = HandedOn(aClass)
        return loadDataRepresentation(forTypeIdentifier: type) { data, error in
            guard let data else { return completionHandler(nil, error) }
            do {
                completionHandler(try handed.value.object(withItemProviderData: data, typeIdentifier: type), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }
}
