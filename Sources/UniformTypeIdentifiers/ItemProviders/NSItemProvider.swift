// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// An item in several representations, each created on demand. Providers are used for drag and
/// drop, pasteboards and sharing.
///
/// Representations are kept in registration order. Register the representation with the highest
/// fidelity first. If there are several representations of the same type and kind, the first one is
/// used. Loading a type uses the first representation whose type equals or conforms to it.
///
/// Load handlers and completion handlers are called on one of the library's queues, never on the
/// main thread. Errors are `NSError`s of ``errorDomain``, errors of handlers, or
/// `CocoaError.userCancelled`.
///
/// Linux has no CoreTransferable, so methods that take a `Transferable` do not exist.
open class NSItemProvider: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: mutable state is accessed only under the lock.
    // Overridable members must be declared in the class itself, because members of extensions
    // cannot be overridden.

    private struct State {
        var representations: [ItemRepresentation] = []
        var suggestedName: String?
        var previewImageHandler: LoadHandler?
        /// Copies that a receiver may still read. They are removed when the provider is.
        var copies: [TemporaryCopy] = []
    }

    private let state = Mutex(State())

    /// Creates a provider without representations.
    public override init() {}

    /// Creates a provider for an existing item; see
    /// ``loadItem(forTypeIdentifier:options:completionHandler:)``. Without item or type it has no
    /// representation.
    public init(item: (any NSSecureCoding)?, typeIdentifier: String?) {
        super.init()
        guard let item, let typeIdentifier else { return }
        let shared = UncheckedBox(item)
        registerItem(forTypeIdentifier: typeIdentifier) { completion, _, _ in completion?(shared.value, nil) }
    }

    /// Returns a provider with the same representations.
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

    /// The suggested file name of the item.
    open var suggestedName: String? {
        get { state.withLock { $0.suggestedName } }
        set { state.withLock { $0.suggestedName = newValue } }
    }

    /// The handler that creates a preview image of the item.
    open var previewImageHandler: LoadHandler? {
        get { state.withLock { $0.previewImageHandler } }
        set { state.withLock { $0.previewImageHandler = newValue } }
    }

    /// All representations, best first.
    var representations: [ItemRepresentation] { state.withLock { $0.representations } }

    /// Adds a representation, unless there is already one of the same type and kind.
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

    /// Keeps a copy until the provider is released.
    func keep(_ copy: TemporaryCopy) { state.withLock { $0.copies.append(copy) } }

    deinit { for copy in state.withLock({ $0.copies }) { copy.remove() } }

    // MARK: Types

    /// The type identifiers of all representations, best first.
    open var registeredTypeIdentifiers: [String] { registeredTypeIdentifiers(fileOptions: []) }

    /// Returns the type identifiers of the representations with these options, best first.
    open func registeredTypeIdentifiers(fileOptions: NSItemProviderFileOptions = []) -> [String] {
        var identifiers: [String] = []
        for representation in representations where representation.allows(fileOptions) {
            if !identifiers.contains(representation.typeIdentifier) {
                identifiers.append(representation.typeIdentifier)
            }
        }
        return identifiers
    }

    /// The types of all representations, best first. Identifiers that do not belong to any type are
    /// omitted.
    open var registeredContentTypes: [UTType] { registeredTypeIdentifiers.compactMap { UTType($0) } }

    /// The types of the files that may be opened in place, best first.
    open var registeredContentTypesForOpenInPlace: [UTType] {
        registeredTypeIdentifiers(fileOptions: .openInPlace).compactMap { UTType($0) }
    }

    /// Returns the registered types that conform to a type, best first.
    open func registeredContentTypes(conformingTo contentType: UTType) -> [UTType] {
        registeredContentTypes.filter { $0.conforms(to: contentType) }
    }

    /// Returns `true` if there is a representation of a type, or of a type that conforms to it.
    open func hasItemConformingToTypeIdentifier(_ typeIdentifier: String) -> Bool {
        hasRepresentationConforming(toTypeIdentifier: typeIdentifier, fileOptions: [])
    }

    /// Returns `true` if there is a representation of a type, or of a type that conforms to it,
    /// with these options.
    open func hasRepresentationConforming(
        toTypeIdentifier typeIdentifier: String, fileOptions: NSItemProviderFileOptions = []
    ) -> Bool {
        representation(of: typeIdentifier, fileOptions) != nil
    }

    /// Returns the first representation of a type, or of a type that conforms to it.
    func representation(of typeIdentifier: String, _ options: NSItemProviderFileOptions = []) -> ItemRepresentation? {
        representations.first { $0.allows(options) && $0.conforms(to: typeIdentifier) }
    }

    // MARK: Registering

    /// Registers data of a type.
    ///
    /// - Parameter loadHandler: Called whenever the data is requested. It must call its argument
    ///   once, with data or an error, and returns a progress for display and cancellation, or
    ///   `nil`.
    @preconcurrency
    open func registerDataRepresentation(
        forTypeIdentifier typeIdentifier: String, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: visibility, content: .data(loadHandler)))
    }

    /// Registers data of a type; see
    /// ``registerDataRepresentation(forTypeIdentifier:visibility:loadHandler:)``.
    @preconcurrency
    open func registerDataRepresentation(
        for contentType: UTType, visibility: NSItemProviderRepresentationVisibility = .all,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        registerDataRepresentation(
            forTypeIdentifier: contentType.identifier, visibility: visibility, loadHandler: loadHandler)
    }

    /// Registers a file of a type.
    ///
    /// - Parameters:
    ///   - fileOptions: Options that may allow receivers to open the file in place instead of a
    ///     copy.
    ///   - loadHandler: Called whenever the file is requested. It must call its argument once, with
    ///     a file or an error. The Boolean argument requests file coordination, and has no effect
    ///     on Linux. A file that is not opened in place is copied before the call returns.
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

    /// Registers a file or folder of a type; see
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

    /// Registers an item of a type; see ``loadItem(forTypeIdentifier:options:completionHandler:)``.
    @preconcurrency
    open func registerItem(forTypeIdentifier typeIdentifier: String, loadHandler: @escaping LoadHandler) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: .all, content: .item(loadHandler)))
    }

    /// Registers an object with all types to which it can be converted. Types that are already
    /// registered are unchanged.
    open func registerObject(
        _ object: any NSItemProviderWriting, visibility: NSItemProviderRepresentationVisibility
    ) {
        // The object only provides data, which providers on Apple's systems also request on any
        // thread.
        let shared = UncheckedBox(object)
        for type in object.writableTypeIdentifiersForItemProvider {
            registerDataRepresentation(forTypeIdentifier: type, visibility: visibility) { completion in
                shared.value.loadData(withTypeIdentifier: type, forItemProviderCompletionHandler: completion)
            }
        }
    }

    /// Registers an object that is created on demand, with all types to which its class can be
    /// converted. Types that are already registered are unchanged.
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

    /// Loads data of a type. For a file, its content is read.
    ///
    /// - Note: Differs on Linux: loading a folder as data fails with
    ///   ``ErrorCode/unavailableCoercionError``, while Apple's systems create a zip archive. The
    ///   library has no archiver among its dependencies, and does not add one to every app for this
    ///   purpose. Load the folder as a file.
    /// - Parameter completionHandler: Called once, on one of the library's queues, with data or an
    ///   error.
    /// - Returns: The progress. Cancelling it makes the operation fail with
    ///   `CocoaError.userCancelled`.
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

    /// Loads a copy of a file of a type. The copy is deleted when the handler returns, so move it
    /// or read it in the handler. Its name is ``suggestedName``, if that is set.
    ///
    /// - Parameter completionHandler: Called once, on one of the library's queues, with a file or
    ///   an error.
    /// - Returns: The progress. Cancelling it makes the operation fail with
    ///   `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    open func loadFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: false) { url, _, error in completionHandler(url, error) }
    }

    /// Loads a file of a type: the original if it is requested and offered, otherwise a copy.
    ///
    /// - Parameter completionHandler: Called once, on one of the library's queues, with a file and
    ///   `true` if it is the original, or with an error. A copy is deleted when the handler
    ///   returns.
    @preconcurrency
    @discardableResult
    open func loadFileRepresentation(
        for contentType: UTType, openInPlace: Bool = false,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(contentType.identifier, inPlace: openInPlace, completionHandler)
    }

    /// Loads a file of a type: the original if it is offered, otherwise a copy.
    ///
    /// - Parameter completionHandler: Called once, on one of the library's queues, with a file and
    ///   `true` if it is the original, or with an error. A copy is deleted when the handler
    ///   returns, because there is no file coordination.
    @preconcurrency
    @discardableResult
    open func loadInPlaceFileRepresentation(
        forTypeIdentifier typeIdentifier: String,
        completionHandler: @escaping @Sendable (URL?, Bool, (any Error)?) -> Void
    ) -> Progress {
        loadFile(typeIdentifier, inPlace: true, completionHandler)
    }

    /// Loads an item of a type. A registered item is returned unchanged, and data as `NSData`. A
    /// file is returned as the `NSURL` of the original, or of a copy that exists as long as the
    /// provider.
    ///
    /// - Note: Differs on Linux: the compiler warns that a cast such as `item as? URL` always
    ///   fails. The cast works as on Apple's systems. `(item as Any?) as? URL` avoids the warning.
    /// - Parameter completionHandler: Called once, on one of the library's queues, with an item or
    ///   an error. If it is `nil`, nothing is loaded.
    @preconcurrency
    open func loadItem(
        forTypeIdentifier typeIdentifier: String, options: [AnyHashable: Any]? = nil,
        completionHandler: CompletionHandler? = nil
    ) {
        loadItem(typeIdentifier, options, completionHandler)
    }

    /// Loads an item of a type; see the variant with a handler.
    ///
    /// - Throws: The error reported by the variant with a handler.
    open func loadItem(
        forTypeIdentifier typeIdentifier: String, options: [AnyHashable: Any]? = nil
    ) async throws -> any NSSecureCoding {
        try await withCheckedThrowingContinuation { continuation in
            loadItem(forTypeIdentifier: typeIdentifier, options: options) { item, error in
                continuation.resume(with: Self.result(item, error, typeIdentifier).map { UncheckedBox($0) })
            }
        }.value
    }

    /// Loads the preview image created by ``previewImageHandler``; without that handler, there is
    /// none.
    @preconcurrency
    open func loadPreviewImage(options: [AnyHashable: Any]! = nil, completionHandler: CompletionHandler!) {
        loadPreviewImage(options, completionHandler)
    }

    /// Loads the preview image; see the variant with a handler.
    ///
    /// - Throws: The error reported by the variant with a handler.
    open func loadPreviewImage(options: [AnyHashable: Any]! = nil) async throws -> any NSSecureCoding {
        try await withCheckedThrowingContinuation { continuation in
            loadPreviewImage(options: options) { item, error in
                continuation.resume(with: Self.result(item, error, UTType.image.identifier).map { UncheckedBox($0) })
            }
        }.value
    }

    // MARK: Objects

    /// Returns `true` if objects of a class can be created from a representation.
    open func canLoadObject(ofClass aClass: any NSItemProviderReading.Type) -> Bool {
        aClass.readableTypeIdentifiersForItemProvider.contains { representation(of: $0) != nil }
    }

    /// Loads an object of a class from the class's most preferred type that is available.
    ///
    /// - Parameter completionHandler: Called once, on one of the library's queues, with an object
    ///   or an error.
    /// - Returns: The progress. Cancelling it makes the operation fail with
    ///   `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    open func loadObject(
        ofClass aClass: any NSItemProviderReading.Type,
        completionHandler: @escaping @Sendable ((any NSItemProviderReading)?, (any Error)?) -> Void
    ) -> Progress {
        let wanted = aClass.readableTypeIdentifiersForItemProvider
        let type = wanted.first { representation(of: $0) != nil } ?? wanted.first ?? ""
        let handed = UncheckedBox(aClass)
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
