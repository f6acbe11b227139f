// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSItemProvider {
    func loadItem(
        _ typeIdentifier: String, _ options: [AnyHashable: Any]?, _ completionHandler: CompletionHandler?
    ) {
        guard let completionHandler else { return }
        let loading = ItemLoading<any NSSecureCoding> { result in
            switch result {
            case .success(let item): completionHandler(item, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
        guard let found = representation(of: typeIdentifier) else {
            return loading.finish(
                .failure(
                    Self.error(.itemUnavailableError, "The item has no representation of type \(typeIdentifier).")))
        }
        let name = suggestedName
        let handed = UncheckedBox(options)
        HandlerQueue.shared.async {
            switch found.content {
            case .item(let load):
                self.call(load, found, options: handed.value) { loading.finish($0) }
            case .data(let load):
                _ = load { data, error in
                    loading.finish(Self.result(data, error, found.typeIdentifier).map { NSData(data: $0) })
                }
            case .file(let load, let opensInPlace):
                _ = load { url, _, error in
                    let original = Self.result(url, error, found.typeIdentifier)
                    loading.finish(
                        original.flatMap { url in
                            if opensInPlace { return Result { try Self.object(url) } }
                            return Result {
                                let copy = try TemporaryCopy(of: url, as: name, type: found.typeIdentifier)
                                self.keep(copy)
                                return try Self.object(copy.url)
                            }
                        })
                }
            }
        }
    }

    func loadPreviewImage(_ options: [AnyHashable: Any]?, _ completionHandler: CompletionHandler?) {
        guard let completionHandler else { return }
        let loading = ItemLoading<any NSSecureCoding> { result in
            switch result {
            case .success(let item): completionHandler(item, nil)
            case .failure(let error): completionHandler(nil, error)
            }
        }
        guard let handler = previewImageHandler else {
            return loading.finish(
                .failure(Self.error(.itemUnavailableError, "The item has no preview image; set previewImageHandler.")))
        }
        let representation = ItemRepresentation(
            typeIdentifier: UTType.image.identifier, visibility: .all, content: .item(handler))
        let handed = UncheckedBox(options)
        HandlerQueue.shared.async {
            self.call(handler, representation, options: handed.value) { loading.finish($0) }
        }
    }

    /// Requests an item from a load handler.
    func call(
        _ load: LoadHandler, _ representation: ItemRepresentation, options: [AnyHashable: Any]? = nil,
        _ completion: @escaping @Sendable (Result<any NSSecureCoding, any Error>) -> Void
    ) {
        load({ item, error in completion(Self.result(item, error, representation.typeIdentifier)) }, nil, options)
    }

    private static func object(_ url: URL) throws -> any NSSecureCoding {
        guard let object = NSURL(string: url.absoluteString) else {
            throw error(.unexpectedValueClassError, "The URL \(url) is not a file URL.")
        }
        return object
    }

    /// Converts an item to data of its type: data is unchanged, text becomes UTF-8, a file its
    /// content, and any other URL its text.
    static func data(_ item: any NSSecureCoding, _ typeIdentifier: String) -> Result<Data, any Error> {
        switch item {
        case let data as NSData: return .success(Data(referencing: data))
        case let text as NSString: return .success(Data(text.substring(from: 0).utf8))
        case let url as NSURL:
            guard let address = url.absoluteURL else { break }
            // For a URL type, the item is the URL itself.
            if !address.isFileURL || (UTType(typeIdentifier)?.conforms(to: .url) ?? false) {
                return .success(Data(address.absoluteString.utf8))
            }
            return contents(of: address)
        default: break
        }
        return .failure(
            error(
                .unavailableCoercionError,
                "The item of type \(typeIdentifier) is of class \(type(of: item)), which cannot be converted to data. Load "
                    + "it with loadItem."))
    }
}
