// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import SearchIndex
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightEngine
@testable import WindowModel

/// Collects a client's events, and lets a test wait for one.
private final class Events: Sendable {
    private let stream: AsyncStream<WindowEvent>
    private let continuation: AsyncStream<WindowEvent>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func send(_ event: WindowEvent) { continuation.yield(event) }

    /// Returns the next event that a function accepts.
    func next<Value: Sendable>(_ accept: (WindowEvent) -> Value?) async -> Value? {
        for await event in stream { if let value = accept(event) { return value } }
        return nil
    }
}

/// A store whose app renders each item as PDF, and fulfils each promise with the same bytes.
private struct PDFStore: EngineClient {
    let engine: SearchlightEngine
    let picture: [UInt8]

    func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        let answer: Any? =
            switch call {
            case is PreviewCall:
                PreviewCall.Answer(
                    title: "A report", contentType: "com.adobe.pdf", source: .extension, removals: [],
                    content: .inline(Array("%PDF-1.7".utf8)))
            case is FulfilCall: FulfilCall.Answer(data: .inline(picture), wasRetried: false)
            default: nil
            }
        if let answer = answer as? Call.Answer { return answer }
        return try await engine.perform(call, onEvent: onEvent)
    }

    func commit(_ batch: IndexBatch) async throws(EngineError) { try await engine.commit(batch) }

    func close() async {}
}

@Suite("The requests of the window")
struct WindowClientTests {
    private let nothing: @Sendable () -> ExtensionListing = { ExtensionListing(ExtensionRegistry(searchPath: [])) }

    private func withEngine(_ records: [ItemRecord], _ body: (SearchlightEngine) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: folder.path("store"), access: .readWrite,
                extensionSearchPath: [folder.path("extensions")],
                worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:])))
        do {
            var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notes"))
            batch.index(try records.map { try EncodedItem($0) })
            try await engine.commit(batch)
            try await engine.perform(SettleCall())
            try await body(engine)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func note(_ title: String) -> ItemRecord {
        ItemRecord(
            uniqueIdentifier: title,
            attributes: [
                "title": .string(title), "contentType": .string("public.plain-text"),
                "textContent": .string("The text of \(title)."),
                "providerDataTypeIdentifiers": .array([.string("public.plain-text")]),
            ])
    }

    @Test("A search, its suggestions, its preview and the text for the clipboard come from the store")
    func search() async throws {
        try await withEngine([note("Tulips"), note("Roses")]) { engine in
            let (events, clock) = (Events(), ManualClock())
            let client = WindowClient(store: { engine }, environment: [:], installed: nothing, clock: clock) {
                events.send($0)
            }
            var state = WindowState()
            for effect in state.take(.typed("tul")) { client.perform(effect) }
            var effects: [WindowEffect] = []
            for _ in 0..<2 {
                let event = try #require(await events.next { $0 })
                effects += state.take(event)
            }
            #expect(state.results.rows.map(\.plainTitle) == ["Tulips"] && state.page == .results)
            #expect(state.suggestions.map(\.text).contains("Tulips"))
            // A result contains everything that a drag needs.
            #expect(DragOffer(state.results.rows[0].item.record).mediaTypes == MediaType.texts)

            for effect in effects { client.perform(effect) }
            await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(200))
            let preview = try #require(
                await events.next { if case .previewed(_, .value(let shown)) = $0 { shown } else { nil } })
            guard case .page(let page, let words) = preview.content else {
                return #expect(Bool(false), "\(preview.content)")
            }
            #expect(
                String(decoding: page, as: UTF8.self).contains("Tulips")
                    && words.map(\.text).joined().contains("Tulips"))

            client.perform(.findCopy(item: state.results.rows[0].id))
            #expect(await events.next { if case .copies(.value(let text)) = $0 { text } else { nil } } == "Tulips")
            client.perform(.listApps)
            let apps = try #require(await events.next { if case .knows(.value(let apps)) = $0 { apps } else { nil } })
            #expect(apps.apps == [.init(name: "com.example.notes", items: 2)])
            client.cancelAll()
        }
    }

    @Test("All results are found, page by page")
    func pages() async throws {
        try await withEngine((1...130).map { note("Tulip \($0)") }) { engine in
            let events = Events()
            let client = WindowClient(
                store: { engine }, environment: [:], installed: nothing, clock: ManualClock()
            ) { events.send($0) }
            var state = WindowState()
            for effect in state.take(.typed("tulip")) { client.perform(effect) }
            var counts: [Int] = []
            while true {
                let event = try #require(
                    await events.next { (event: WindowEvent) -> WindowEvent? in
                        switch event {
                        case .found, .foundMore: event
                        default: nil
                        }
                    })
                _ = state.take(event)
                counts.append(state.results.rows.count)
                let effects = state.take(.reachedEnd)
                if effects.isEmpty { break }
                for effect in effects { client.perform(effect) }
            }
            #expect(counts == [60, 120, 130] && Set(state.results.rows.map(\.id)).count == 130)
            #expect(state.total == SearchTotal(count: 130, isExact: true))
            client.cancelAll()
        }
    }

    @Test("Instead of a PDF, the picture that the item promises is shown, and without one its attributes")
    func firstPage() async throws {
        let picture: [UInt8] = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 2, 0, 0, 0, 3,
            8, 2, 0, 0, 0,
        ]
        var record = note("Tulips")
        record.attributes["providerDataTypeIdentifiers"] = .array([.string("public.html"), .string("public.png")])
        try await withEngine([record, note("Roses")]) { engine in
            let cases: [(item: Int64, answer: [UInt8], content: ShownPreview.Content?)] = [
                (1, picture, .picture(picture)), (1, [1, 2, 3], nil), (2, picture, nil),
            ]
            for (item, answer, content) in cases {
                let (events, clock) = (Events(), ManualClock())
                let store = PDFStore(engine: engine, picture: answer)
                let client = WindowClient(store: { store }, environment: [:], installed: nothing, clock: clock) {
                    events.send($0)
                }
                client.perform(.preview(number: 1, item: item, text: "tulips"))
                await clock.waitForSleepers(1)
                clock.advance(by: .milliseconds(200))
                let shown = try #require(
                    await events.next { if case .previewed(_, .value(let shown)) = $0 { shown } else { nil } })
                #expect(shown.note?.contains("PDF") == true)
                if let content {
                    #expect(shown.content == content)
                } else {
                    guard case .page = shown.content else { return #expect(Bool(false), "\(shown.content)") }
                }
                client.cancelAll()
            }
        }
    }

    @Test("A preview that another one replaces within its delay is never rendered")
    func replacedPreview() async throws {
        try await withEngine([note("Tulips"), note("Roses")]) { engine in
            let (events, clock) = (Events(), ManualClock())
            let client = WindowClient(store: { engine }, environment: [:], installed: nothing, clock: clock) {
                events.send($0)
            }
            client.perform(.preview(number: 1, item: 1, text: "tulips"))
            client.perform(.preview(number: 2, item: 2, text: "tulips"))
            await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(200))
            let shown: UInt64? = await events.next { if case .previewed(let number, _) = $0 { number } else { nil } }
            #expect(shown == 2)
            client.cancelAll()
        }
    }

    @Test("An item that is opened without an app has a message with the remedy")
    func opening() async throws {
        try await withEngine([note("Tulips")]) { engine in
            let events = Events()
            let environment = [
                "XDG_DATA_DIRS": "/nonexistent", "XDG_DATA_HOME": "/nonexistent", "HOME": "/nonexistent",
            ]
            let client = WindowClient(store: { engine }, environment: environment, installed: nothing) {
                events.send($0)
            }
            client.perform(.open(item: 1, text: "tulips"))
            let message = await events.next { if case .opened(.problem(let message)) = $0 { message } else { nil } }
            #expect(message?.contains("Tulips") == true)
        }
    }

    @Test("A store that cannot be opened is a message, and the next request tries again")
    func unopened() async throws {
        struct Unreadable: Error, CustomStringConvertible { var description: String { "The index cannot be read." } }
        try await withEngine([note("Tulips")]) { engine in
            let events = Events()
            let tries = Mutex(0)
            let link = StoreLink { use in
                let isFirst = tries.withLock { tries in
                    tries += 1
                    return tries == 1
                }
                if isFirst { throw Unreadable() }
                await use(engine)
            }
            let client = WindowClient(store: { try await link.store() }, environment: [:], installed: nothing) {
                events.send($0)
            }
            func search(_ number: UInt64) async -> WindowEvent.Answer<FoundItems>? {
                client.perform(.search(number: number, text: "tulips", correctsSpelling: true))
                return await events.next { if case .found(number, let answer) = $0 { answer } else { nil } }
            }
            guard case .problem("The index cannot be read.")? = await search(1) else { return #expect(Bool(false)) }
            guard case .value(let found)? = await search(2) else { return #expect(Bool(false)) }
            #expect(found.hits.count == 1)
            guard case .value? = await search(3) else { return #expect(Bool(false)) }
            #expect(tries.withLock { $0 } == 2)
            link.end()
            await #expect(throws: StoreLink.Ended.self) { try await link.store() }
        }
    }

    @Test("Before the first donation, searches find nothing and the installed extensions are named")
    func noIndex() async throws {
        let folder = try TemporaryFolder()
        let bundle = try PlainBundle("com.example.notes", in: folder.path("extensions"))
        let events = Events()
        let client = WindowClient(
            store: { throw EngineError.index(.noStore(path: folder.path("store"))) }, environment: [:],
            installed: { ExtensionListing(ExtensionRegistry(searchPath: [folder.path("extensions")])) }
        ) { events.send($0) }
        client.perform(.search(number: 1, text: "tulips", correctsSpelling: true))
        let found = await events.next { if case .found(_, .value(let found)) = $0 { found } else { nil } }
        #expect(found?.hits.isEmpty == true)
        client.perform(.listApps)
        let apps = await events.next { if case .knows(.value(let apps)) = $0 { apps } else { nil } }
        #expect(apps?.apps.count == 1 && apps?.title == "Nothing Is Indexed Yet")
        _ = bundle
    }
}
