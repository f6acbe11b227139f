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
    /// The item's number.
    var item: Int64
    var query: String?

    /// The most bytes that are taken as content: those of an extension, or of a page made from the attributes of one item,
    /// where a byte may become six.
    static let maximumContentBytes = 128 << 20

    /// A preview on its way.
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

/// Has a promise of an item fulfilled; see ``EngineClient/provide(_:of:mayRetry:onProgress:)``.
struct FulfilCall: EngineCall {
    var need: EngineNeed { .userReading }
    var purpose: String { "fulfil a promise" }
    var promise: Representation
    /// The item's number.
    var item: Int64
    var mayRetry: Bool

    /// What fulfils the promise, on its way.
    struct Answer: Codable, Sendable {
        var data: Payload?
        var file: FileReply?
        var wasRetried: Bool

        func content() throws(EngineError) -> PromisedContent {
            switch (data, file) {
            case (let data?, nil): return .data(data)
            case (nil, let file?): return .file(file)
            default:
                throw .service(.malformedAnswer(during: "fulfil a promise", reason: "it has not one content"))
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

/// Starts the worker of a bundle, since the user is about to drag one of its items. Answers before it is ready, and says
/// nothing if it cannot be started.
package struct PrewarmCall: EngineCall {
    package var purpose: String { "make \(bundle) ready" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        await engine.prewarm(bundle)
        return Done()
    }
}

/// Has an extension donate everything again; answers once it has acknowledged, with how many items the bundle has then.
///
/// What the extension deletes as a whole stays findable until then, and is deleted if it was not donated again. The
/// request is written down before it is made. If it fails, nothing that was there is gone, and it stays pending until a
/// later reindex of the same bundle is acknowledged. An extension that reindexes in pages goes on where an earlier attempt
/// has ended, if what that brought still holds.
package struct ReindexCall: EngineCall {
    package var purpose: String { "reindex \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.reindexAll(bundle, onEvent: context.onEvent)
    }
}

/// Has an extension donate some items again, or delete them; answers once it has acknowledged, with how many items the
/// bundle has then.
package struct ReindexItemsCall: EngineCall {
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

/// Has an extension, never its app, donate everything to nobody, and compares that with what the index has of it. Nothing
/// of the index changes, nor what is pending.
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
