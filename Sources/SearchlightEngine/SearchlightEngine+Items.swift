// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Previews
import Promises
import SearchIndex
import ServiceProtocol
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// See ``StoreService/search(_:)``.
    public func search(_ request: SearchRequest) async throws(EngineError) -> SearchPage {
        try await onQuery { (index) throws(IndexQueryError) in try await index.search(request) }
    }

    /// See ``StoreService/count(_:upTo:)``.
    public func count(_ request: SearchRequest, upTo maximum: Int?) async throws(EngineError) -> Int {
        try await onQuery { (index) throws(IndexQueryError) in try await index.count(request, upTo: maximum) }
    }

    /// See ``StoreService/item(named:bundle:)``.
    public func item(named name: String, bundle: String?) async throws(EngineError) -> StoredItem {
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

    /// See ``StoreService/fulfil(_:of:)``.
    public func fulfil(
        _ promise: Representation, of item: StoredItem
    ) async throws(EngineError) -> FulfilledPromise {
        let (bundle, identifier) = (item.scope.bundle, item.record.uniqueIdentifier)
        switch promise.form {
        case .data: return .data(try await data(of: identifier, as: promise.type, bundle: bundle))
        case .file, .inPlaceFile:
            return .file(
                try await file(
                    of: identifier, as: promise.type, inPlace: promise.form == .inPlaceFile, bundle: bundle))
        }
    }
}
