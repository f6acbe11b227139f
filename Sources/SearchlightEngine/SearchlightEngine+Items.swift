// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Previews
import Promises
import SearchIndex
import ServiceProtocol
import Synchronization
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

    /// See ``StoreService/preview(of:query:)``.
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
        let bytes = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(reply.content, limit: Preview.maximumBytes)
        }
        let (part, attachments) = reply.parts(of: bytes)
        var content = Array(part)
        var problem: String?
        if reply.contentType == UTType.html.identifier {
            let (html, omitted) = InlineAttachments.applied(
                to: part,
                zip(reply.attachments, attachments).map { attachment, bytes in
                    InlineAttachments.Attachment(
                        identifier: attachment.identifier,
                        mediaType: UTType(attachment.contentType)?.preferredMIMEType ?? "", bytes: bytes)
                })
            content = Array(ContentPolicy.applied(to: String(decoding: html, as: UTF8.self)).utf8)
            if omitted > 0 { problem = "There was no room for \(omitted) of its pictures." }
        }
        return Preview(
            title: reply.title.map(DisplayText.line) ?? title, contentType: reply.contentType, content: content,
            source: .extension, problem: problem)
    }

    /// See ``StoreService/provide(_:of:mayRetry:)``.
    public func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool
    ) async throws(EngineError) -> ProvidedContent {
        let bundle = item.scope.bundle
        let identifier = item.record.uniqueIdentifier
        let retries = Retries()
        let policy = RetryPolicy(isAllowed: mayRetry) { retries.note() }
        let content = try await onHost { (host) throws(ExtensionError) -> PromisedContent in
            switch promise.form {
            case .data: .data(try await host.data(item: identifier, type: promise.type, bundle, retrying: policy))
            case .file, .inPlaceFile:
                .file(
                    try await host.file(
                        item: identifier, type: promise.type, inPlace: promise.form == .inPlaceFile, bundle,
                        retrying: policy))
            }
        }
        return ProvidedContent(content, wasRetried: retries.happened)
    }

    /// An item as bytes of a type, from its app or its extension, by name.
    ///
    /// - Parameters:
    ///   - identifier: The unique identifier of the item.
    ///   - type: A uniform type identifier that the item promises.
    ///   - bundle: Whose item it is.
    /// - Throws: ``EngineError``. A stream may end early all the same, if whoever fills it ends.
    public func data(of identifier: String, as type: String, bundle: String) async throws(EngineError) -> Payload {
        try await onHost { (host) throws(ExtensionError) in
            try await host.data(item: identifier, type: type, bundle)
        }
    }
}

/// Notes whether somebody was asked for the second time.
private final class Retries: Sendable {
    private let noted = Atomic(false)
    func note() { noted.store(true, ordering: .relaxed) }
    var happened: Bool { noted.load(ordering: .relaxed) }
}
