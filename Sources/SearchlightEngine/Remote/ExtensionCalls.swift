// SPDX-License-Identifier: Apache-2.0
import Previews
import Promises
import SearchIndex
import ServiceMessages

struct ExtensionsCall: EngineCall {
    static let name = "extensions"
    var purpose: String { "list the extensions" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> InstalledExtensions {
        try await desk.store().extensions()
    }
}

/// What is said of a preview; its content follows.
struct PreviewHead: Codable, Sendable {
    var title: String
    var contentType: String
    var source: Preview.Source
    var problem: String?
    var size: Size?
    var removals: [Removal]

    struct Size: Codable, Sendable {
        var width: Double
        var height: Double
    }
}

struct PreviewCall: EngineCall {
    static let name = "preview"
    var purpose: String { "preview an item" }
    var item: StoredItem
    var query: String?

    /// What is taken as content: that of an extension, or a page made from the attributes of one item, where a byte may
    /// become six.
    static let maximumContentBytes = 128 << 20

    func perform(_ desk: CallDesk) async throws(EngineError) -> PreviewHead {
        let preview = try await desk.store().preview(of: item, query: query)
        desk.attach(try Payload.holding(preview.content, for: purpose).arguments)
        return PreviewHead(
            title: preview.title, contentType: preview.contentType, source: preview.source, problem: preview.problem,
            size: preview.size.map { PreviewHead.Size(width: $0.width, height: $0.height) }, removals: preview.removals)
    }
}

struct FulfilCall: EngineCall {
    static let name = "fulfil"
    var purpose: String { "fulfil a promise" }
    var promise: Representation
    var item: StoredItem
    var mayRetry: Bool

    /// What follows.
    struct Answer: Codable, Sendable {
        var isFile: Bool
        var wasRetried: Bool
    }

    func perform(_ desk: CallDesk) async throws(EngineError) -> Answer {
        let (bundle, onEvent) = (item.scope.bundle, desk.onEvent)
        let provided = try await desk.store().provide(promise, of: item, mayRetry: mayRetry) { progress in
            onEvent(.progress(bundle: bundle, completed: progress.completed, total: progress.total))
        }
        switch provided.content {
        case .data(let payload):
            desk.attach(payload.arguments)
            return Answer(isFile: false, wasRetried: provided.wasRetried)
        case .file(let file):
            desk.attach(file.arguments)
            return Answer(isFile: true, wasRetried: provided.wasRetried)
        }
    }
}

struct PrewarmCall: EngineCall {
    static let name = "prewarm"
    var purpose: String { "make \(bundle) ready" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        try await desk.store().prewarm(bundle)
        return Done()
    }
}

struct ReindexCall: EngineCall {
    static let name = "reindex"
    var purpose: String { "reindex \(bundle)" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> Int {
        try await desk.store().reindexAll(bundle, onEvent: desk.onEvent)
    }
}

struct CompareCall: EngineCall {
    static let name = "compare"
    var purpose: String { "compare the index with \(bundle)" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> Comparison { try await desk.store().compare(bundle) }
}
