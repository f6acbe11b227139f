// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Glibc
import ItemRecord
import Previews
import Promises
import ServiceMessages
import SystemSupport

/// An extension in its own process, with an in-memory index, to which checks send requests. Nothing
/// that the extension does can terminate the validator.
final class Trial: Sendable {
    let bundle: ExtensionBundle
    let items: DonationCollector
    let events: EventRecord
    let limits: WorkerConfiguration.Limits
    private let host: ExtensionHost
    /// The number of items that suffice in a paged reindex; 0 for all.
    private let sampleItems: Int

    /// The maximum number of bytes of a promise that are read.
    static let maximumBytes = 64 << 20
    /// The budget for a page, unless a check sets a smaller one.
    static let pageItems: UInt32 = 500
    private static let pageMilliseconds: UInt32 = 2000
    private static let pageMemory: UInt64 = 256 << 20
    /// The number of pages after which a reindex is considered endless.
    static let maximumPages = 10_000

    /// Creates a host for the extension.
    ///
    /// - Parameters:
    ///   - known: Items from an earlier reindex in the extension's index.
    ///   - sampleItems: The number of items that suffice in a paged reindex; 0 for all.
    ///   - index: The index; `nil` to create one.
    ///   - onItems: Called with the number of received items, a few times a second, on any thread.
    init(
        _ bundle: ExtensionBundle, _ configuration: WorkerConfiguration, events: EventRecord,
        known: [DonationCollector.Name: ItemRecord] = [:], sampleItems: Int = 0, index: DonationCollector? = nil,
        onItems: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.bundle = bundle
        self.sampleItems = sampleItems
        self.events = events
        var configuration = configuration
        // The first failure is the result: the host neither searches for the failing item nor
        // terminates idle workers.
        configuration.limits.lostWorkers = 1
        configuration.limits.itemsSetAside = 0
        configuration.limits.linger = nil
        limits = configuration.limits
        let items = index ?? DonationCollector(known: known, clock: configuration.clock, onItems: onItems)
        self.items = items
        host = ExtensionHost(
            configuration: configuration, registry: ExtensionRegistry(only: bundle), receiver: items,
            onEvent: { events.take($0) })
    }

    /// Terminates the process.
    func close() async { await host.shutdown() }

    /// Starts the process and begins to load the extension, without a request.
    func prewarm() async { await host.prewarm(bundle.identifier) }

    /// Starts the process and loads the extension. Returns when it has answered a request.
    func load() async throws(ExtensionError) {
        _ = try await ask(TrialOffer(item: "searchlight-validation", kind: .preview(contentPath: nil)))
    }

    /// The extent of a full reindex.
    struct Extent: Sendable {
        /// `true` if the reindex was paged.
        var isPaged: Bool
        /// `true` if the reindex was completed; `false` if it stopped after a sample.
        var isWhole: Bool
    }

    /// Requests all items as a host does: in pages if the extension supports them. A paged reindex
    /// stops after the number of items in a sample.
    @discardableResult
    func reindexEverything() async throws(ExtensionError) -> Extent {
        guard try await host.reindexAll(bundle.identifier) == .inPages else {
            return Extent(isPaged: false, isWhole: true)
        }
        var cursor: [UInt8]?
        var cursors: Set<[UInt8]> = []
        let before = items.donatedItems
        while cursors.count < Self.maximumPages {
            let donated = items.donatedItems - before
            guard sampleItems == 0 || donated < sampleItems else { return Extent(isPaged: true, isWhole: false) }
            let budget =
                sampleItems == 0 ? Self.pageItems : min(Self.pageItems, UInt32(clamping: sampleItems - donated))
            cursor = try await reindexPage(cursor, items: budget).next
            guard let cursor else { return Extent(isPaged: true, isWhole: true) }
            guard cursors.insert(cursor).inserted else { break }
        }
        throw .malformedAnswer(
            identifier: bundle.identifier, during: "reindex in pages",
            reason: "a cursor was repeated, or there was no end after \(Self.maximumPages) pages")
    }

    func isPaged() async throws(ExtensionError) -> Bool { try await host.reindexAll(bundle.identifier) == .inPages }

    func reindexPage(_ cursor: [UInt8]?, items: UInt32) async throws(ExtensionError) -> ReindexPageReply {
        let page = ReindexPage(
            cursor: cursor, items: items, milliseconds: Self.pageMilliseconds, memoryLimit: Self.pageMemory)
        return try await host.reindexPage(page, bundle.identifier)
    }

    /// Requests some items.
    func reindex(_ identifiers: [String]) async throws(ExtensionError) {
        try await host.reindexItems(identifiers, bundle.identifier)
    }

    /// Sends a throttle notice, or the end of throttling for `nil`.
    func throttle(_ notice: ThrottleNotice?) async -> Bool { await host.throttle(bundle.identifier, notice) }

    /// Sends a recorded request, and ignores its answer.
    func send(_ request: WorkerRequest) async throws(ExtensionError) {
        switch request {
        case .reindexAll: _ = try await host.reindexAll(bundle.identifier)
        case .reindexItems(let identifiers): try await reindex(identifiers)
        case .reindexEncrypted(let items): try await host.reindexEncrypted(items, bundle.identifier)
        case .reindexPage(let page): _ = try await host.reindexPage(page, bundle.identifier)
        case .updateFiles(let changes): try await host.updateFiles(changes, bundle.identifier)
        case .provideData(let item, let type): _ = try await host.data(item: item, type: type, bundle.identifier)
        case .provideFile(let item, let type, let inPlace):
            _ = try await host.file(item: item, type: type, inPlace: inPlace, bundle.identifier)
        case .preview(let item, let query, let path):
            _ = try await host.preview(item: item, query: query, contentPath: path, bundle.identifier)
        case .didThrottle(let notice): _ = await throttle(notice)
        case .didFinishThrottle: _ = await throttle(nil)
        case .reindexUnlocked, .load, .recordBoundary, .cancel: break
        }
    }

    /// Sends a request about an item.
    ///
    /// - Throws: ``ExtensionError`` for anything except an answer or a failure status from the
    ///   extension.
    func ask(_ offer: TrialOffer) async throws(ExtensionError) -> ExtensionAnswer {
        do throws(ExtensionError) {
            switch offer.kind {
            case .promise(let representation) where representation.form == .data:
                let payload = try await host.data(item: offer.item, type: representation.type, bundle.identifier)
                guard payload.length <= UInt64(Self.maximumBytes) else { return .tooMuch(length: payload.length) }
                return .data(try await collect(payload, offer))
            case .promise(let representation):
                let file = try await host.file(
                    item: offer.item, type: representation.type, inPlace: representation.form == .inPlaceFile,
                    bundle.identifier)
                return try await Self.read(file, offer, bundle.identifier)
            case .preview(let path):
                let reply = try await host.preview(
                    item: offer.item, query: nil, contentPath: path, bundle.identifier)
                var content = try await collect(reply.content, offer)
                var rest = content.suffix(min(content.count, reply.header.attachments.reduce(0) { $0 + $1.length }))
                content.removeLast(rest.count)
                var attachments: [String: ExtensionAnswer.Attachment] = [:]
                for attachment in reply.header.attachments {
                    attachments[attachment.identifier] = ExtensionAnswer.Attachment(
                        contentType: attachment.contentType, bytes: Array(rest.prefix(attachment.length)))
                    rest = rest.dropFirst(attachment.length)
                }
                return .preview(
                    ExtensionAnswer.Rendering(
                        contentType: reply.header.contentType, title: reply.header.title, content: content,
                        attachments: attachments))
            }
        } catch {
            switch error {
            case .failed(_, _, .unsupported, ""): return .notServed
            case .failed(_, _, let status, let message): return .refused(status, message)
            default: throw error
            }
        }
    }

    private func collect(_ payload: Payload, _ offer: TrialOffer) async throws(ExtensionError) -> [UInt8] {
        let limits = DeliveryLimits(stall: limits.answer, total: limits.answer * 3)
        return try await Self.aside(offer, bundle.identifier) { () throws(PromiseError) in
            try Delivery.collect(payload, limit: Self.maximumBytes, limits: limits)
        }
    }

    /// The maximum number of bytes that are read to determine the type of a file.
    private static let headBytes = 1 << 20

    private static func read(
        _ file: FileReply, _ offer: TrialOffer, _ identifier: String
    ) async throws(ExtensionError) -> ExtensionAnswer {
        try await aside(offer, identifier) { () throws(PromiseError) in
            var status = stat()
            guard fstat(file.descriptor.number, &status) == 0 else {
                throw .inputOutput(operation: "Reading", path: "the file", code: errno)
            }
            // A folder is walked completely, as when it is delivered. It has no first bytes.
            guard status.st_mode & S_IFMT != S_IFDIR else {
                let length = try Delivery.length(of: .file(file))
                return .file(name: file.name, length: Int(clamping: length), head: [])
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .inputOutput(
                    operation: "Reading", path: "an object that is neither a file nor a folder", code: EINVAL)
            }
            let length = Int(clamping: status.st_size)
            do throws(ErrnoCode) {
                let head = try WholeTransfer.bytes(of: file.descriptor.number, upTo: min(headBytes, length), at: 0)
                return .file(name: file.name, length: length, head: head)
            } catch {
                throw .inputOutput(operation: "Reading", path: "the file", code: error.code)
            }
        }
    }

    /// Runs a blocking closure on a global queue, outside the cooperative pool.
    private static func aside<Value: Sendable>(
        _ offer: TrialOffer, _ identifier: String, _ body: @escaping @Sendable () throws(PromiseError) -> Value
    ) async throws(ExtensionError) -> Value {
        let result: Result<Value, PromiseError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(PromiseError) in try body() })
            }
        }
        do throws(PromiseError) { return try result.get() } catch {
            throw .malformedAnswer(
                identifier: identifier, during: offer.purpose,
                reason: "\(error.description) The item is \(offer.item.quoted).")
        }
    }
}
