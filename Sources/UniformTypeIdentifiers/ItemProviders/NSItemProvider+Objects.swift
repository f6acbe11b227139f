// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSItemProvider {
    /// Returns `true` if values of a Swift type, such as `String` or `URL`, can be created from a
    /// representation.
    public func canLoadObject<T: _ObjectiveCBridgeable>(ofClass: T.Type) -> Bool
    where T._ObjectiveCType: NSItemProviderReading {
        canLoadObject(ofClass: T._ObjectiveCType.self)
    }

    /// Loads a value of a Swift type, such as `String` or `URL`.
    ///
    /// - Parameter completionHandler: Called once, on a queue of the library, with a value or an
    ///   error.
    /// - Returns: The progress. Cancelling it makes the operation fail with
    ///   `CocoaError.userCancelled`.
    @preconcurrency
    @discardableResult
    public func loadObject<T: _ObjectiveCBridgeable>(
        ofClass: T.Type, completionHandler: @escaping @Sendable (T?, (any Error)?) -> Void
    ) -> Progress where T._ObjectiveCType: NSItemProviderReading {
        let receive = UncheckedBox { (object: (any NSItemProviderReading)?, error: (any Error)?) in
            guard let object = object as? T._ObjectiveCType else { return completionHandler(nil, error) }
            var value: T?
            T._forceBridgeFromObjectiveC(object, result: &value)
            completionHandler(value, nil)
        }
        return loadObject(ofClass: T._ObjectiveCType.self) { receive.value($0, $1) }
    }

    /// Registers a value of a Swift type, such as `String` or `URL`, that is created on demand.
    @preconcurrency
    public func registerObject<T: _ObjectiveCBridgeable>(
        ofClass: T.Type, visibility: NSItemProviderRepresentationVisibility,
        loadHandler: @escaping @Sendable (@escaping @Sendable (T?, (any Error)?) -> Void) -> Progress?
    ) where T._ObjectiveCType: NSItemProviderWriting {
        typealias Receiver = @Sendable ((any NSItemProviderWriting)?, (any Error)?) -> Void
        let load = UncheckedBox { (receive: @escaping Receiver) -> Progress? in
            let bridge = UncheckedBox { (value: Any?) -> (any NSItemProviderWriting)? in
                (value as? T)?._bridgeToObjectiveC()
            }
            let take: @Sendable (Any?, (any Error)?) -> Void = { value, error in receive(bridge.value(value), error) }
            return loadHandler(take)
        }
        registerObject(ofClass: T._ObjectiveCType.self, visibility: visibility) { load.value($0) }
    }
}

// MARK: Foundation objects

extension NSString: NSItemProviderWriting, NSItemProviderReading {
    /// The type of UTF-8 plain text.
    public static var writableTypeIdentifiersForItemProvider: [String] { [UTType.utf8PlainText.identifier] }

    /// The types of UTF-8 and UTF-16 plain text, and of plain text.
    public static var readableTypeIdentifiersForItemProvider: [String] {
        [UTType.utf8PlainText, .utf16PlainText, .utf16ExternalPlainText, .plainText].map(\.identifier)
    }

    /// Provides the text in UTF-8.
    @preconcurrency
    public func loadData(
        withTypeIdentifier typeIdentifier: String,
        forItemProviderCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress? {
        completionHandler(Data(substring(from: 0).utf8), nil)
        return nil
    }

    /// Creates a text from data in the type's encoding, or in UTF-8 if the type specifies none.
    ///
    /// - Throws: `unavailableCoercionError` if the data is not in that encoding.
    public static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self {
        let isWide = [UTType.utf16PlainText.identifier, UTType.utf16ExternalPlainText.identifier].contains(
            typeIdentifier)
        guard let text = String(data: data, encoding: isWide ? .utf16 : .utf8) else {
            throw NSItemProvider.error(
                .unavailableCoercionError, "The data of type \(typeIdentifier) is not text in that encoding.")
        }
        return self.init(string: text)
    }
}

extension NSURL: NSItemProviderWriting, NSItemProviderReading {
    /// The URL type.
    public static var writableTypeIdentifiersForItemProvider: [String] { [UTType.url.identifier] }

    /// The URL type, preceded by the file URL type if the URL refers to a file.
    public var writableTypeIdentifiersForItemProvider: [String] {
        isFileURL ? [UTType.fileURL.identifier, UTType.url.identifier] : [UTType.url.identifier]
    }

    /// The file URL type and the URL type.
    public static var readableTypeIdentifiersForItemProvider: [String] {
        [UTType.fileURL.identifier, UTType.url.identifier]
    }

    /// Provides the URL as UTF-8 text.
    @preconcurrency
    public func loadData(
        withTypeIdentifier typeIdentifier: String,
        forItemProviderCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> Progress? {
        completionHandler(Data((absoluteString).utf8), nil)
        return nil
    }

    /// Creates a URL from UTF-8 text.
    ///
    /// - Throws: `unavailableCoercionError` if the data is not a URL.
    public static func object(withItemProviderData data: Data, typeIdentifier: String) throws -> Self {
        guard let text = String(data: data, encoding: .utf8), let url = NSURL(string: text) as? Self else {
            throw NSItemProvider.error(
                .unavailableCoercionError, "The data of type \(typeIdentifier) is not a URL.")
        }
        return url
    }
}
