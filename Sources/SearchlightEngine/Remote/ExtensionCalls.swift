// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Previews
import Promises
import SearchIndex
import ServiceMessages

/// Renders a preview of an item; see ``EngineClient/preview(of:query:)``.
struct PreviewCall: EngineCall {
    var need: EngineNeed { .userReading }
    var purpose: String { "preview an item" }
    /// The number of the item.
    var item: Int64
    var query: String?

    /// The maximum size of the content in bytes. The content comes from an extension or is a page
    /// with an item's attributes, in which escaping may turn one byte into six.
    static let maximumContentBytes = 128 << 20

    /// The encoded preview.
    struct Answer: Codable, Sendable {
        var title: String
        var contentType: String
        var source: Preview.Source
        var problem: String?
        var width: Double?
        var height: Double?
        var removals: [Removal]
        var content: Payload

        func preview(_ content: [UInt8]) -> Preview {
            let size = width.flatMap { width in height.flatMap { PreviewHeader.Size(width: width, height: $0) } }
            return Preview(
                title: title, contentType: contentType, content: content, source: source, problem: problem, size: size,
                removals: removals)
        }
    }

    func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Answer {
        let preview = try await engine.preview(of: try await engine.item(number: item), query: query)
        return Answer(
            title: preview.title, contentType: preview.contentType, source: preview.source, problem: preview.problem,
            width: preview.size?.width, height: preview.size?.height, removals: preview.removals,
            content: try Payload.holding(preview.content, for: purpose))
    }
}

/// Fulfils an item's promise; see ``EngineClient/provide(_:of:mayRetry:onProgress:)``.
struct FulfilCall: EngineCall {
    var need: EngineNeed { .userReading }
    var purpose: String { "fulfil a promise" }
    var promise: Representation
    /// The number of the item.
    var item: Int64
    var mayRetry: Bool

    /// The encoded content of the promise.
    struct Answer: Codable, Sendable {
        var data: Payload?
        var file: FileReply?
        var wasRetried: Bool

        func content() throws(EngineError) -> PromisedContent {
            switch (data, file) {
            case (let data?, nil): return .data(data)
            case (nil, let file?): return .file(file)
            default:
                throw .service(
                    .malformedAnswer(during: "fulfil a promise", reason: "it does not have exactly one content"))
            }
        }
    }

    func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Answer {
        let item = try await engine.item(number: item)
        let (bundle, onEvent) = (item.scope.bundle, context.onEvent)
        let provided = try await engine.provide(promise, of: item, mayRetry: mayRetry) { progress in
            onEvent(.progress(bundle: bundle, completed: progress.completed, total: progress.total))
        }
        return switch provided.content {
        case .data(let payload): Answer(data: payload, wasRetried: provided.wasRetried)
        case .file(let file): Answer(file: file, wasRetried: provided.wasRetried)
        }
    }
}

/// Starts a bundle's worker before the user drags one of the bundle's items. Replies before the
/// worker is ready, and does not report a failed start.
package struct PrewarmCall: EngineCall {
    package var purpose: String { "make \(bundle) ready" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        await engine.prewarm(bundle)
        return Done()
    }
}

/// Runs a reindex of everything for a bundle. The answer is the bundle's item count after the
/// acknowledgement.
///
/// Until the acknowledgement, searches still find the items that the extension deletes with a
/// “delete all”; afterwards, those that it did not donate again are deleted. The request is
/// recorded before it is sent. If it fails, no item is lost, and the request stays pending until a
/// later reindex of the bundle is acknowledged. If an extension reindexes in pages, the reindex
/// resumes where an earlier attempt ended, as long as the earlier pages are still valid.
package struct ReindexCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "reindex \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.reindexAll(bundle, onEvent: context.onEvent)
    }
}

/// Asks an extension to donate some items again, or to delete them. The answer is the bundle's item
/// count after the acknowledgement.
package struct ReindexItemsCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "reindex items of \(bundle)" }
    var bundle: String
    var items: [String]

    package init(bundle: String, items: [String]) {
        self.bundle = bundle
        self.items = items
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.reindexItems(Set(items), of: bundle, onEvent: context.onEvent)
    }
}

/// Compares the index with a full set of donations from an extension, never from its app. The
/// donations are discarded; neither the index nor pending work changes.
package struct CompareCall: EngineCall {
    package var purpose: String { "compare the index with \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError)
        -> ReindexComparison
    {
        try await engine.compare(bundle)
    }
}
