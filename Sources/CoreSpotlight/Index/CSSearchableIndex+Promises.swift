// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

// Promises made by other apps. The service must allow the caller to request them.
extension CSSearchableIndex {
    /// Requests another app's item as data in a type that the item promises.
    ///
    /// The handler is called once, on one of the library's queues, with the data or a
    /// ``CSIndexError``.
    @preconcurrency
    public func fetchData(
        forBundleIdentifier bundleIdentifier: String, itemIdentifier: String, contentType: UTType,
        completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        provideData(
            forBundle: bundleIdentifier, identifier: itemIdentifier, type: contentType.identifier,
            completionHandler: completionHandler)
    }

    /// Requests another app's item as data in a type that the item promises.
    ///
    /// - Throws: ``CSIndexError``.
    public func fetchData(
        forBundleIdentifier bundleIdentifier: String, itemIdentifier: String, contentType: UTType
    ) async throws -> Data {
        try await provideData(
            forBundle: bundleIdentifier, identifier: itemIdentifier, type: contentType.identifier)
    }

    /// Requests another app's item as data in a type with the given identifier, like
    /// ``fetchData(forBundleIdentifier:itemIdentifier:contentType:completionHandler:)``.
    @preconcurrency
    public func provideData(
        forBundle: String, identifier: String, type: String,
        completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let transport = Self.promises()
        Task.detached {
            let result = await Self.data(transport, forBundle, identifier, type)
            HandlerQueue.shared.async {
                switch result {
                case .success(let data): completionHandler(data, nil)
                case .failure(let error): completionHandler(nil, error)
                }
            }
        }
    }

    /// Requests another app's item as data in a type with the given identifier, like
    /// ``fetchData(forBundleIdentifier:itemIdentifier:contentType:)``.
    ///
    /// - Throws: ``CSIndexError``.
    public func provideData(forBundle: String, identifier: String, type: String) async throws -> Data {
        try await Self.data(Self.promises(), forBundle, identifier, type).get()
    }

    private static func promises() -> Result<any PromiseTransport, CSIndexError> {
        do throws(CSIndexError) { return .success(try ProcessTransports.promises()) } catch {
            return .failure(error)
        }
    }

    private static func data(
        _ transport: Result<any PromiseTransport, CSIndexError>, _ bundle: String, _ item: String, _ type: String
    ) async -> Result<Data, CSIndexError> {
        do throws(CSIndexError) {
            return .success(try await transport.get().fetchData(bundle: bundle, item: item, type: type))
        } catch {
            return .failure(error)
        }
    }
}
