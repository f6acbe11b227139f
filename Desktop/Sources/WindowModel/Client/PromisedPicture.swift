// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import ServiceMessages
import UniformTypeIdentifiers

/// The picture that an item promises. For a document, this is its first page.
enum PromisedPicture {
    private static let types = [UTType.png.identifier, UTType.jpeg.identifier]

    /// Requests the picture of an item from its app or its extension.
    ///
    /// - Returns: An encoded picture whose header is safe; `nil` if the item promises none, or the
    ///   promise is not fulfilled.
    static func bytes(of item: StoredItem, in store: any EngineClient) async -> [UInt8]? {
        let offered = item.record.promisedRepresentations([.data])
        guard let promise = offered.first(where: { types.contains($0.type) }),
            let provided = try? await store.provide(promise, of: item, mayRetry: false),
            case .data(let payload) = provided.content
        else { return nil }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(returning: picture(in: payload)) }
        }
    }

    private static func picture(in payload: Payload) -> [UInt8]? {
        guard let bytes = try? Delivery.collect(payload, limit: Thumbnail.maximumBytes) else { return nil }
        return try? Thumbnail.read(.data(bytes)).bytes
    }
}
