// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

extension NSItemProvider {
    /// Offers data of a type.
    ///
    /// - Parameter loadHandler: called each time the data is wanted. It calls what it is given once, with data or an error,
    ///   and returns what tells how far it is and can be cancelled, or `nil`.
    @preconcurrency
    public func registerDataRepresentation(
        forTypeIdentifier typeIdentifier: String, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (Data?, (any Error)?) -> Void) -> Progress?
    ) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: visibility, content: .data(loadHandler)))
    }

    /// Offers data of a type; see ``registerDataRepresentation(forTypeIdentifier:visibility:loadHandler:)``.
    @preconcurrency
    public func registerDataRepresentation(
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
    public func registerFileRepresentation(
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
    public func registerFileRepresentation(
        for contentType: UTType, visibility: NSItemProviderRepresentationVisibility = .all, openInPlace: Bool = false,
        loadHandler: @escaping @Sendable (@escaping @Sendable (URL?, Bool, (any Error)?) -> Void) -> Progress?
    ) {
        registerFileRepresentation(
            forTypeIdentifier: contentType.identifier, fileOptions: openInPlace ? .openInPlace : [],
            visibility: visibility, loadHandler: loadHandler)
    }

    /// Offers an item of a type; see ``loadItem(forTypeIdentifier:options:completionHandler:)``.
    @preconcurrency
    public func registerItem(forTypeIdentifier typeIdentifier: String, loadHandler: @escaping LoadHandler) {
        add(ItemRepresentation(typeIdentifier: typeIdentifier, visibility: .all, content: .item(loadHandler)))
    }

    /// Offers an object in all types that it can be turned into. Types that are registered already stay as they are.
    public func registerObject(
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
    public func registerObject(
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

    /// Offers a value of a Swift type, such as `String` or `URL`, that is made when it is wanted.
    @preconcurrency
    public func registerObject<T: _ObjectiveCBridgeable>(
        ofClass: T.Type, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (T?, (any Error)?) -> Void) -> Progress?
    ) where T._ObjectiveCType: NSItemProviderWriting {
        typealias Receiver = @Sendable ((any NSItemProviderWriting)?, (any Error)?) -> Void
        let load = HandedOn { (receive: @escaping Receiver) -> Progress? in
            let bridge = HandedOn { (value: Any?) -> (any NSItemProviderWriting)? in
                (value as? T)?._bridgeToObjectiveC()
            }
            let take: @Sendable (Any?, (any Error)?) -> Void = { value, error in receive(bridge.value(value), error) }
            return loadHandler(take)
        }
        registerObject(ofClass: T._ObjectiveCType.self, visibility: visibility) { load.value($0) }
    }
}
