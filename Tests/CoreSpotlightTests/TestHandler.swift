// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Synchronization

/// A principal class whose behaviour is given by the item identifier.
final class TestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    struct Refused: Error, CustomStringConvertible { let description = "The note is locked." }

    /// Handlers that are kept so that the test can call them.
    static let kept = Mutex<[Acknowledgement]>([])
    /// The number of calls of each method.
    static let throttles = Mutex<[String]>([])

    /// Sendable: an acknowledgement handler may be called from any thread.
    struct Acknowledgement: @unchecked Sendable { let call: () -> Void }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let items = ["one", "two"].map {
            CSSearchableItem(uniqueIdentifier: $0, domainIdentifier: "d", attributeSet: CSSearchableItemAttributeSet())
        }
        let acknowledge = Acknowledgement(call: acknowledgementHandler)
        searchableIndex.deleteAllSearchableItems()
        searchableIndex.indexSearchableItems(items) { error in
            guard error == nil else { return }
            acknowledge.call()
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        switch identifiers.first {
        case "twice":
            let acknowledge = Acknowledgement(call: acknowledgementHandler)
            acknowledge.call()
            DispatchQueue.concurrentPerform(iterations: 8) { _ in acknowledge.call() }
        case "never": break
        case "keep":
            let acknowledge = Acknowledgement(call: acknowledgementHandler)
            Self.kept.withLock { $0.append(acknowledge) }
        default:
            let acknowledge = Acknowledgement(call: acknowledgementHandler)
            let index = CSSearchableIndex(name: "named")
            index.deleteSearchableItems(withIdentifiers: identifiers)
            index.deleteSearchableItems(withDomainIdentifiers: ["ü.b"])
            CSSearchableIndex.default().deleteAllSearchableItems { _ in acknowledge.call() }
        }
    }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {
        Self.throttles.withLock { $0.append("throttle") }
    }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        Self.throttles.withLock { $0.append("finish") }
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        switch itemIdentifier {
        case "locked": throw Refused()
        case "unknown": return Data()
        case "super": return try super.data(for: searchableIndex, itemIdentifier: "", typeIdentifier: "")
        default: return Data("\(itemIdentifier) as \(typeIdentifier)".utf8)
        }
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        switch itemIdentifier {
        case "locked": throw Refused()
        case "unknown": return URL(string: "file://")!
        case "web": return URL(string: "https://example.com/a")!
        case "temporary": return FileManager.default.temporaryDirectory.appendingPathComponent("a copy.txt")
        case "escaping":
            return FileManager.default.temporaryDirectory.appendingPathComponent("../home/ada/original.txt")
        default: return URL(fileURLWithPath: "/home/ada/\(itemIdentifier).txt")
        }
    }

    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        if request.fileURL.lastPathComponent == "locked" { throw Refused() }
        return QLPreviewReply(
            dataOfContentType: .plainText, contentSize: .zero,
            createDataUsing: { reply in
                reply.title = "Title"
                return Data(request.fileURL.path.utf8)
            })
    }
}

/// Renders items without files.
final class ItemPreviewer: QLPreviewProvider, QLPreviewingController {
    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { _ in
            Data("\(identifier) \(queryString ?? "no query")".utf8)
        }
    }
}

/// Answers preview requests wrongly.
final class CarelessPreviewer: QLPreviewProvider, QLPreviewingController {
    func providePreview(
        for request: QLFilePreviewRequest, completionHandler handler: @escaping (QLPreviewReply?, (any Error)?) -> Void
    ) {
        switch request.fileURL.lastPathComponent {
        case "twice":
            handler(QLPreviewReply(fileURL: request.fileURL), TestHandler.Refused())
            handler(nil, nil)
        case "nothing": handler(nil, nil)
        default: break
        }
    }
}

/// Renders until it is cancelled.
final class PatientPreviewer: QLPreviewProvider, QLPreviewingController {
    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        // Ends with the cancellation of the task.
        try await Task.sleep(for: .seconds(3600))
        return QLPreviewReply(dataOfContentType: .plainText, contentSize: .zero) { _ in Data("late".utf8) }
    }
}

/// Overrides nothing.
final class BareHandler: CSIndexExtensionRequestHandler {}

/// A preview provider that lacks the protocol.
final class NotPreviewing: QLPreviewProvider {}

/// There is no principal class.
final class NotAHandler: NSObject {}

/// Checks in its initializer whether there is an index.
final class CuriousHandler: CSIndexExtensionRequestHandler {
    private let available: Bool
    private var begun = false

    override init() { available = CSSearchableIndex.isIndexingAvailable() }

    override func beginRequest(with context: NSExtensionContext) { begun = context.inputItems.isEmpty }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data("\(available) \(begun)".utf8)
    }
}

/// Has its own initializer in addition to the required one.
class InjectedHandler: CSIndexExtensionRequestHandler {
    private let answer: String
    private let counts = [1, 2, 3]

    init(answer: String) { self.answer = answer }

    override convenience init() { self.init(answer: "injected") }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data("\(answer) \(counts.count) \(type(of: self))".utf8)
    }
}

/// Overrides and calls the inherited methods.
final class DeepHandler: InjectedHandler {
    private let added = "and more"

    override init(answer: String) { super.init(answer: "\(answer) \(added)") }
}

/// The same for preview providers.
final class InjectedPreviewProvider: QLPreviewProvider, QLPreviewingController {
    private let title: String

    init(title: String) { self.title = title }

    override convenience init() { self.init(title: "injected") }

    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        let reply = QLPreviewReply(fileURL: request.fileURL)
        reply.title = title
        return reply
    }
}

/// Answers a page request with the given next cursor.
final class PagingHandler: CSIndexExtensionRequestHandler, CSPagedReindexHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (Data?) -> Void
    ) {
        switch page.cursor.map({ String(decoding: $0, as: UTF8.self) }) {
        case "end": acknowledgementHandler(nil)
        case "empty": acknowledgementHandler(Data())
        case "never": break
        case let cursor:
            acknowledgementHandler(
                Data(
                    """
                    \(cursor ?? "nil") \(page.maximumItemCount) \(page.maximumDuration) \(page.memoryLimit) \
                    \(page.isCancelled)
                    """.utf8))
        }
    }
}

/// Provides the item “known”, and deletes other items.
final class ProvidingHandler: CSIndexExtensionRequestHandler {
    /// The requested classes.
    static let classes = Mutex<[FileProtectionType]>([])

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        searchableIndex.deleteSearchableItems(withIdentifiers: identifiers) { error in
            if error == nil { acknowledgementHandler() }
        }
    }

    override func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType
    ) async -> [CSSearchableItem] {
        Self.classes.withLock { $0.append(protectionClass) }
        return identifiers.filter { $0 == "known" }.map {
            CSSearchableItem(uniqueIdentifier: $0, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
        }
    }
}
