// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Previews
import Promises
import SearchIndex
import ServiceProtocol
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// Finds items; see ``SearchIndex/search(_:)``.
    ///
    /// - Throws: ``EngineError``.
    public func search(_ request: SearchRequest) async throws(EngineError) -> SearchPage {
        try await onQuery { (index) throws(IndexQueryError) in try await index.search(request) }
    }

    /// How many items a search finds, counted up to a maximum; see ``SearchIndex/count(_:upTo:)``.
    ///
    /// - Throws: ``EngineError``.
    public func count(_ request: SearchRequest, upTo maximum: Int?) async throws(EngineError) -> Int {
        try await onQuery { (index) throws(IndexQueryError) in try await index.count(request, upTo: maximum) }
    }

    /// The one item that is meant by a name: `@` and its number, or its unique identifier.
    ///
    /// - Throws: ``EngineError/itemNotFound(_:)``, ``EngineError/ambiguousItem(_:candidates:)`` when several bundles
    ///   have such an item, and the index's errors.
    public func item(named name: String, bundle: String? = nil) async throws(EngineError) -> StoredItem {
        if name.hasPrefix("@"), let number = Int64(name.dropFirst()) {
            let found = try await onIndex { (index) throws(SearchIndexError) in try await index.item(number: number) }
            if let found, bundle == nil || found.scope.bundle == bundle { return found }
        }
        let found = try await onIndex { (index) throws(SearchIndexError) in
            try await index.items(uniqueIdentifier: name, bundle: bundle)
        }
        guard let first = found.first else { throw .itemNotFound(name) }
        guard found.count == 1 else { throw .ambiguousItem(name, candidates: found) }
        return first
    }

    /// What a person is shown of an item: rendered by its app or its extension, or from its attributes when both are
    /// missing, render none or fail.
    ///
    /// - Throws: ``EngineError``.
    public func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        let fallback = AttributePreview(item.record, query: query)
        func attributes(_ problem: String?) -> Preview {
            Preview(
                title: fallback.title, contentType: UTType.html.identifier, content: Array(fallback.html.utf8),
                source: .attributes, problem: problem)
        }
        do throws(EngineError) {
            return try await renderedPreview(of: item, query: query, title: fallback.title)
        } catch {
            switch error {
            case .extension(.notFound): return attributes(nil)
            case .extension(.failed(_, _, .unsupported, let message)):
                return attributes(message.isEmpty ? nil : message)
            default: return attributes(error.description)
            }
        }
    }

    private func renderedPreview(
        of item: StoredItem, query: String?, title: String
    ) async throws(EngineError) -> Preview {
        let bundle = item.scope.bundle
        let reply = try await onHost { (host) throws(ExtensionError) in
            let reply = try await host.preview(
                item: item.record.uniqueIdentifier, query: query, contentPath: item.record.contentPath, bundle)
            guard Preview.contentTypes.contains(reply.contentType) else {
                throw .malformedAnswer(
                    identifier: bundle, during: "preview \(item.record.uniqueIdentifier)",
                    reason: "content of type \(reply.contentType) cannot be shown")
            }
            return reply
        }
        var content = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(reply.content, limit: Preview.maximumBytes)
        }
        if reply.contentType == UTType.html.identifier {
            content = Array(ContentPolicy.applied(to: String(decoding: content, as: UTF8.self)).utf8)
        }
        return Preview(
            title: reply.title.map(DisplayText.line) ?? title, contentType: reply.contentType, content: content,
            source: .extension)
    }
}

/// Moves bytes on a thread that may block.
func onDelivery<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PromiseError) -> Value
) async throws(EngineError) -> Value {
    let result: Result<Value, PromiseError> = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(PromiseError) in try body() })
        }
    }
    do throws(PromiseError) { return try result.get() } catch { throw .promise(error) }
}
