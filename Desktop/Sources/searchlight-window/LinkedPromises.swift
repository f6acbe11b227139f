// SPDX-License-Identifier: Apache-2.0
import Promises
import SearchIndex
import SearchlightEngine
import WindowModel

/// The promises of the window's store.
struct LinkedPromises: PromiseProvider {
    let link: StoreLink

    func prewarm(_ items: [StoredItem]) async {
        guard let store = try? await link.store() else { return }
        await StorePromises(store).prewarm(items)
    }

    func fulfil(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        let store: any EngineClient
        do { store = try await link.store() } catch { throw ProviderFailure(.failed, "\(error)", cause: error) }
        return try await StorePromises(store).fulfil(promise, of: item, mayRetry: mayRetry, onProgress: onProgress)
    }
}
