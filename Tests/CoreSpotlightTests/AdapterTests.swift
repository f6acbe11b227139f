// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import SearchlightExtension
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import CoreSpotlight

/// Serialised: an index that a handler creates belongs to the only extension of the process.
@Suite("Adapter", .serialized)
struct AdapterTests {
    /// Creates an extension, passes it to the body, and destroys it.
    private func with(
        _ principalClass: String, _ host: FakeHost? = nil, _ body: (FakeHost, OpaquePointer) async throws -> Void
    ) async throws {
        let host = host ?? FakeHost(principalClass: "CoreSpotlightTests.\(principalClass)")
        let created = host.create()
        #expect(created.status == SEARCHLIGHT_OK, "\(created.message)")
        let pointer = try #require(created.extension)
        do { try await body(host, pointer) } catch {
            host.destroy(pointer)
            throw error
        }
        host.destroy(pointer)
    }

    private func reindex(_ host: FakeHost, _ pointer: OpaquePointer, _ request: UInt64, _ identifiers: [String]) throws
    {
        let table = try #require(
            host.interface(SEARCHLIGHT_EXTENSION_REINDEX, of: pointer, as: searchlight_extension_reindex.self))
        var copies: [UnsafePointer<CChar>?] = identifiers.map { UnsafePointer(strdup($0)) }
        table.reindex_items(pointer, request, &copies, copies.count)
        for copy in copies { free(UnsafeMutablePointer(mutating: copy)) }
    }

    private func promise(
        _ host: FakeHost, _ pointer: OpaquePointer, _ item: String, file inPlace: Bool? = nil
    ) async -> FakeHost.Answer? {
        guard
            let table = host.interface(
                SEARCHLIGHT_EXTENSION_PROMISES, of: pointer, as: searchlight_extension_promises.self)
        else {
            return nil
        }
        if let inPlace {
            table.provide_file(pointer, 7, item, "public.text", inPlace ? 1 : 0)
        } else {
            table.provide_data(pointer, 7, item, "public.text")
        }
        return await host.answer(to: 7)
    }

    private func preview(
        _ host: FakeHost, _ pointer: OpaquePointer, _ item: String, query: String? = nil, path: String? = nil
    ) async -> FakeHost.Answer? {
        guard
            let table = host.interface(
                SEARCHLIGHT_EXTENSION_PREVIEW, of: pointer, as: searchlight_extension_preview.self)
        else {
            return nil
        }
        table.preview(pointer, 9, item, query, path)
        return await host.answer(to: 9)
    }

    // MARK: Reindexing

    @Test func reindexAllDonatesAndAcknowledges() async throws {
        try await with("TestHandler") { host, pointer in
            let table = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_REINDEX, of: pointer, as: searchlight_extension_reindex.self))
            table.reindex_all(pointer, 1)
            #expect(await host.answer(to: 1) == .finished(SEARCHLIGHT_OK, nil))
            #expect(host.indexCalls == [.deleteAll(nil), .index(nil, ["one", "two"])])
        }
    }

    /// Asks for a page, as a host does.
    private func page(
        _ pointer: OpaquePointer, _ table: searchlight_extension_paging, _ request: UInt64, cursor: [UInt8]?
    ) {
        cursor.withOptionalBytes { bytes, count in
            var page = searchlight_page(
                size: UInt32(MemoryLayout<searchlight_page>.size), reserved: 0, cursor: bytes, cursor_length: count,
                memory_limit: 1 << 30, items: 2, milliseconds: 1500)
            table.reindex_page(pointer, request, &page)
        }
    }

    @Test func pagesAreAnsweredWithTheNextCursor() async throws {
        try await with("PagingHandler") { host, pointer in
            let table = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_PAGING, of: pointer, as: searchlight_extension_paging.self))
            page(pointer, table, 1, cursor: nil)
            #expect(await host.answer(to: 1) == .page(next: Array("nil 2 1.5 seconds 1073741824 false".utf8)))
            page(pointer, table, 2, cursor: Array("end".utf8))
            #expect(await host.answer(to: 2) == .page(next: nil))
            page(pointer, table, 3, cursor: Array("never".utf8))
            guard case .finished(SEARCHLIGHT_FAILED, _)? = await host.answer(to: 3) else {
                Issue.record("a page that is never acknowledged was not failed: \(host.allAnswers)")
                return
            }
            page(pointer, table, 6, cursor: Array("empty".utf8))
            guard case .finished(SEARCHLIGHT_INVALID_ARGUMENT, _)? = await host.answer(to: 6) else {
                Issue.record("an empty cursor was taken for the end: \(host.allAnswers)")
                return
            }
            var short = searchlight_page()
            table.reindex_page(pointer, 4, &short)
            guard case .finished(SEARCHLIGHT_INVALID_ARGUMENT, _)? = await host.answer(to: 4) else {
                Issue.record("a page without its size was answered: \(host.allAnswers)")
                return
            }
            host.cancel()
            page(pointer, table, 5, cursor: nil)
            #expect(await host.answer(to: 5) == .page(next: Array("nil 2 1.5 seconds 1073741824 true".utf8)))
        }
    }

    @Test func aHandlerWithoutPagesOffersNone() async throws {
        try await with("TestHandler") { host, pointer in
            #expect(
                host.interface(SEARCHLIGHT_EXTENSION_PAGING, of: pointer, as: searchlight_extension_paging.self) == nil)
        }
    }

    /// Returns the identifiers that an index lists, or the error code.
    private func listed(_ index: CSSearchableIndex, after: String?, _ count: Int) async -> (
        [String], CSIndexError.Code?
    ) {
        await withCheckedContinuation { continuation in
            index.fetchItemIdentifiers(after: after, maximumCount: count) { identifiers, error in
                continuation.resume(returning: (identifiers, (error as? CSIndexError)?.code))
            }
        }
    }

    @Test func identifiersAreListedByTheHost() async throws {
        try await with("BareHandler") { host, _ in
            let index = CSSearchableIndex(name: "named")
            #expect(await listed(index, after: nil, 5) == (["a", "é"], nil))
            #expect(await listed(index, after: "ü", 5000) == (["a", "é"], nil))
            #expect(
                host.indexCalls == [
                    .list("named", after: nil, limit: 5), .list("named", after: "ü", limit: 1000),
                ])
        }
        let failing = FakeHost(
            principalClass: "CoreSpotlightTests.BareHandler", outcome: (SEARCHLIGHT_OK, SEARCHLIGHT_UNAVAILABLE, nil))
        try await with("BareHandler", failing) { _, _ in
            #expect(await listed(CSSearchableIndex.default(), after: nil, 5) == ([], .indexUnavailableError))
        }
        let old = FakeHost(
            principalClass: "CoreSpotlightTests.BareHandler", outcome: (SEARCHLIGHT_UNSUPPORTED, SEARCHLIGHT_OK, nil))
        try await with("BareHandler", old) { _, _ in
            #expect(await listed(CSSearchableIndex.default(), after: nil, 5) == ([], .indexingUnsupported))
        }
    }

    @Test func indexesThatTheHandlerMakesGoTheSameWay() async throws {
        try await with("TestHandler") { host, pointer in
            try reindex(host, pointer, 1, ["é", "b"])
            #expect(await host.answer(to: 1) == .finished(SEARCHLIGHT_OK, nil))
            #expect(
                host.indexCalls == [
                    .deleteItems("named", ["é", "b"]), .deleteDomains("named", ["ü.b"]), .deleteAll(nil),
                ])
        }
        #expect(!CSSearchableIndex.isIndexingAvailable())
    }

    @Test func renamesGoTheSameWay() async throws {
        try await with("TestHandler") { host, pointer in
            try await CSSearchableIndex(name: "named").renameSearchableItems(["a": "b", "é": "ü", "same": "same"])
            #expect(host.indexCalls == [.rename("named", ["a": "b", "é": "ü"])])
        }
    }

    @Test func batchesGoTheSameWay() async throws {
        try await with("TestHandler") { host, pointer in
            let index = CSSearchableIndex(name: "named")
            host.clientState.withLock { $0 = [] }
            #expect(try await index.fetchLastClientState().isEmpty)
            index.beginBatch()
            try await index.deleteAllSearchableItems()
            try await index.endBatch(withClientState: Data([1]))
            for expected in [nil, Data(), Data([1])] {
                index.beginBatch()
                try await index.endIndexBatch(expectedClientState: expected, newClientState: Data())
            }
            #expect(
                host.indexCalls == [
                    .readState("named"), .commit("named", [4], state: [1], .any),
                    .commit("named", [], state: [], .exactly(nil)), .commit("named", [], state: [], .exactly([])),
                    .commit("named", [], state: [], .exactly([1])),
                ])
        }
    }

    @Test("Requested items of an encrypted index are provided with its class, and the others are reindexed there")
    func encryptedItems() async throws {
        try await with("ProvidingHandler") { host, pointer in
            let table = try #require(
                host.interface(
                    SEARCHLIGHT_EXTENSION_ENCRYPTED_ITEMS, of: pointer, as: searchlight_extension_encrypted_items.self))
            func ask(_ request: UInt64, _ number: Int32, _ identifiers: [String]) {
                var copies: [UnsafePointer<CChar>?] = identifiers.map { UnsafePointer(strdup($0)) }
                table.reindex_encrypted_items(pointer, request, "health", number, &copies, copies.count)
                for copy in copies { free(UnsafeMutablePointer(mutating: copy)) }
            }
            ask(1, SEARCHLIGHT_CLASS_COMPLETE, ["known", "gone"])
            #expect(await host.answer(to: 1) == .finished(SEARCHLIGHT_OK, nil))
            #expect(
                host.indexCalls == [
                    .setClass("health", SEARCHLIGHT_CLASS_COMPLETE), .index("health", ["known"]),
                    .deleteItems("health", ["gone"]),
                ])
            host.log.withLock { $0 = [] }
            ask(2, SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN, ["known"])
            #expect(await host.answer(to: 2) == .finished(SEARCHLIGHT_OK, nil))
            #expect(
                host.indexCalls == [
                    .setClass("health", SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN), .index("health", ["known"]),
                ])
            for number in [SEARCHLIGHT_CLASS_NONE, 7] as [Int32] {
                ask(3, number, ["known"])
                guard case .finished(SEARCHLIGHT_INVALID_ARGUMENT, _) = await host.answer(to: 3) else {
                    Issue.record("The class \(number) was accepted.")
                    return
                }
            }
            let classes = ProvidingHandler.classes.withLock { $0.map(\.rawValue) }
            #expect(classes == [FileProtectionType.complete.rawValue, FileProtectionType.completeUnlessOpen.rawValue])
        }
    }

    @Test("Donations to an encrypted index set its class at the host first")
    func protectedIndexes() async throws {
        try await with("TestHandler") { host, _ in
            for (name, number) in [
                (FileProtectionType.complete, SEARCHLIGHT_CLASS_COMPLETE),
                (.completeUnlessOpen, SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN),
            ] {
                host.log.withLock { $0 = [] }
                let index = CSSearchableIndex(name: "health", protectionClass: name)
                try await index.indexSearchableItems([Self.item("one")])
                index.beginBatch()
                try await index.indexSearchableItems([Self.item("two")])
                try await index.endBatch(withClientState: Data([1]))
                let calls = host.indexCalls
                try #require(calls.count == 4)
                #expect(calls[0] == .setClass("health", number) && calls[1] == .index("health", ["one"]))
                #expect(calls[2] == .setClass("health", number))
                guard case .commit("health", _, state: [1], _) = calls[3] else {
                    Issue.record("\(calls[3]) is not the commit of the batch.")
                    return
                }
            }
            host.log.withLock { $0 = [] }
            try await CSSearchableIndex(name: "health", protectionClass: .completeUntilFirstUserAuthentication)
                .indexSearchableItems([Self.item("one")])
            #expect(host.indexCalls == [.index("health", ["one"])])
        }
    }

    @Test("A host that cannot encrypt gets no items and client states for an encrypted index, only deletions")
    func hostsWithoutEncryption() async throws {
        let plain = FakeHost(principalClass: "CoreSpotlightTests.TestHandler", encrypts: false)
        try await with("TestHandler", plain) { host, _ in
            for name in [FileProtectionType.complete, .completeUnlessOpen] {
                let index = CSSearchableIndex(name: "health", protectionClass: name)
                let item = Self.item("one")
                let error = await #expect(throws: CSIndexError.self) { try await index.indexSearchableItems([item]) }
                #expect(error?.code == .indexUnavailableError)
                index.beginBatch()
                try await index.indexSearchableItems([item])
                await #expect(throws: CSIndexError.self) { try await index.endBatch(withClientState: Data([1])) }
                index.beginBatch()
                await #expect(throws: CSIndexError.self) { try await index.endBatch(withClientState: Data([1])) }
            }
            #expect(host.indexCalls.isEmpty)
            try await CSSearchableIndex(name: "health", protectionClass: .complete).deleteAllSearchableItems()
            #expect(host.indexCalls.count == 1)
        }
    }

    private static func item(_ identifier: String) -> CSSearchableItem {
        CSSearchableItem(
            uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
    }

    @Test func aRefusedBatchIsAMismatchOfClientStates() async throws {
        let refusing = FakeHost(
            principalClass: "CoreSpotlightTests.BareHandler", outcome: (SEARCHLIGHT_OK, SEARCHLIGHT_REFUSED, "another"))
        try await with("BareHandler", refusing) { _, _ in
            let index = CSSearchableIndex(name: "named")
            index.beginBatch()
            let error = await #expect(throws: CSIndexError.self) {
                try await index.endIndexBatch(expectedClientState: nil, newClientState: Data())
            }
            #expect(error?.code == .mismatchedClientState && error?.localizedDescription == "another")
        }
    }

    @Test func acknowledgingTwiceAnswersOnce() async throws {
        try await with("TestHandler") { host, pointer in
            try reindex(host, pointer, 1, ["twice"])
            #expect(host.allAnswers == [.finished(SEARCHLIGHT_OK, nil)])
        }
    }

    @Test func aHandlerThatIsLetGoFailsTheRequest() async throws {
        try await with("TestHandler") { host, pointer in
            try reindex(host, pointer, 1, ["never"])
            guard case .finished(SEARCHLIGHT_FAILED, let message?)? = host.allAnswers.first else {
                Issue.record("answered with \(host.allAnswers)")
                return
            }
            #expect(message.contains("without being called"))
        }
    }

    @Test func aHandlerThatIsLetGoAfterACancellationIsCancelled() async throws {
        try await with("TestHandler") { host, pointer in
            host.cancel()
            try reindex(host, pointer, 1, ["never"])
            guard case .finished(SEARCHLIGHT_CANCELLED, _)? = host.allAnswers.first else {
                Issue.record("answered with \(host.allAnswers)")
                return
            }
        }
    }

    @Test func acknowledgingLateFromAnotherThreadIsFine() async throws {
        try await with("TestHandler") { host, pointer in
            try reindex(host, pointer, 5, ["keep"])
            #expect(host.allAnswers.isEmpty)
            let kept = TestHandler.kept.withLock { $0.popLast() }
            DispatchQueue.global().async { kept?.call() }
            #expect(await host.answer(to: 5) == .finished(SEARCHLIGHT_OK, nil))
        }
    }

    @Test func acknowledgingAfterTheEndDoesNothing() async throws {
        let host = FakeHost(principalClass: "CoreSpotlightTests.TestHandler")
        try await with("TestHandler", host) { host, pointer in try reindex(host, pointer, 5, ["keep"]) }
        let kept = try #require(TestHandler.kept.withLock { $0.popLast() })
        kept.call()
        #expect(host.allAnswers.isEmpty)
    }

    @Test func requestsUnderWayAtTheEndFail() async throws {
        let host = FakeHost(principalClass: "CoreSpotlightTests.TestHandler", completes: false)
        let created = host.create()
        let connection = try #require(ExtensionTables.instance(created.extension)).connection
        let transport = WorkerTransport(connection: connection)
        let request = IndexRequest(.deleteAll, index: nil)
        let early: IndexTransport.Outcome = await withCheckedContinuation { done in
            transport.send(request) { done.resume(returning: $0) }
            host.destroy(created.extension)
        }
        #expect(early.code == .remoteConnectionError)
        let late: IndexTransport.Outcome = await withCheckedContinuation { done in
            transport.send(request) { done.resume(returning: $0) }
        }
        #expect(late.code == .indexUnavailableError)
        #expect(host.indexCalls == [.deleteAll(nil)])
    }

    @Test func everyRequestIsAnsweredOnceWhenTheExtensionEndsUnderLoad() async throws {
        let seed = MutationLoop.seed
        var random = SplitMix64(seed: seed)
        for _ in 0..<20 {
            let host = FakeHost(
                principalClass: "CoreSpotlightTests.BareHandler", completes: Bool.random(using: &random))
            let created = host.create()
            // Destroyed by one thread, once.
            nonisolated(unsafe) let pointer = try #require(created.extension)
            let index = try #require(ExtensionTables.instance(pointer)).index
            let endAfter = Int.random(in: 0..<200, using: &random)
            let answers: [Int] = await {
                let counts = Mutex(Array(repeating: 0, count: 200))
                await withCheckedContinuation { done in
                    DispatchQueue.concurrentPerform(iterations: 200) { number in
                        if number == endAfter { host.destroy(pointer) }
                        index.deleteSearchableItems(withIdentifiers: ["\(number)"]) { _ in
                            let total = counts.withLock { counts in
                                counts[number] += 1
                                return counts.reduce(0, +)
                            }
                            if total == 200 { done.resume() }
                        }
                    }
                }
                return counts.withLock { $0 }
            }()
            #expect(answers == Array(repeating: 1, count: 200), "seed \(seed)")
        }
    }

    @Test(arguments: [
        (SEARCHLIGHT_FAILED, CSIndexError.Code.unknownError), (SEARCHLIGHT_UNSUPPORTED, .indexingUnsupported),
        (SEARCHLIGHT_INVALID_ARGUMENT, .invalidItemError), (SEARCHLIGHT_UNAVAILABLE, .indexUnavailableError),
        (SEARCHLIGHT_TOO_LARGE, .quotaExceeded), (99, .unknownError),
    ])
    func statusesBecomeErrors(_ status: Int32, _ code: CSIndexError.Code) async throws {
        let completing = FakeHost(
            principalClass: "CoreSpotlightTests.BareHandler", outcome: (SEARCHLIGHT_OK, status, "the reason"))
        try await with("BareHandler", completing) { _, _ in
            let error = await #expect(throws: CSIndexError.self) {
                try await CSSearchableIndex.default().deleteAllSearchableItems()
            }
            #expect(error?.code == code)
            #expect(error?.localizedDescription == "the reason")
        }
        let refusing = FakeHost(
            principalClass: "CoreSpotlightTests.BareHandler", outcome: (status, SEARCHLIGHT_OK, nil))
        try await with("BareHandler", refusing) { _, _ in
            let error = await #expect(throws: CSIndexError.self) {
                try await CSSearchableIndex.default().deleteAllSearchableItems()
            }
            #expect(error?.code == code)
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test("A process of an extension never acts as an app")
    func afterTheExtension() async throws {
        try await with("BareHandler") { _, _ in }
        #expect(!CSSearchableIndex.isIndexingAvailable())
        let error = await #expect(throws: CSIndexError.self) {
            try await CSSearchableIndex.default().indexSearchableItems([CSSearchableItem()])
        }
        #expect(error?.code == .indexUnavailableError)
        #expect(error?.localizedDescription.contains("extension of this process has ended") == true)
        #expect(throws: CSSearchQueryError.self) { try ProcessTransports.query() }
        #expect(throws: CSIndexError.self) { try ProcessTransports.promises() }
    }

    @Test func twoExtensionsInAProcessKeepTheirItemsApart() async throws {
        try await with("TestHandler") { first, pointer in
            try await with("TestHandler") { second, _ in
                let table = try #require(
                    first.interface(SEARCHLIGHT_EXTENSION_REINDEX, of: pointer, as: searchlight_extension_reindex.self))
                table.reindex_all(pointer, 1)
                #expect(await first.answer(to: 1) == .finished(SEARCHLIGHT_OK, nil))
                #expect(second.indexCalls.isEmpty)
                await #expect(throws: CSIndexError.self) {
                    try await CSSearchableIndex.default().deleteAllSearchableItems()
                }
                #expect(second.indexCalls.isEmpty && first.indexCalls.count == 2)
            }
        }
    }

    // MARK: Promises

    @Test func promisesAreFulfilledWithData() async throws {
        try await with("TestHandler") { host, pointer in
            #expect(await promise(host, pointer, "ü") == .data(Array("ü as public.text".utf8)))
        }
    }

    @Test func promisesAreFulfilledWithFiles() async throws {
        try await with("TestHandler") { host, pointer in
            #expect(await promise(host, pointer, "a", file: true) == .file("/home/ada/a.txt", removesAfter: false))
            #expect(await promise(host, pointer, "a", file: false) == .file("/home/ada/a.txt", removesAfter: false))
        }
    }

    /// The path of a file does not show whether it is an original. An original may be in the
    /// temporary directory, too.
    @Test func filesOfHandlersAreNeverRemoved() async throws {
        let temporary = FileManager.default.temporaryDirectory.path
        try await with("TestHandler") { host, pointer in
            for (item, isInPlace) in [("temporary", false), ("temporary", true), ("escaping", false)] {
                guard case .file(let path, removesAfter: false)? = await promise(host, pointer, item, file: isInPlace)
                else {
                    Issue.record("\(item), in place: \(isInPlace): \(host.allAnswers)")
                    continue
                }
                #expect(
                    path.hasPrefix(temporary) && path.hasSuffix(item == "escaping" ? "/original.txt" : "/a copy.txt"))
            }
        }
    }

    @Test func promisesThatCannotBeKeptSayWhy() async throws {
        func status(_ answer: FakeHost.Answer?) -> Int32? {
            guard case .finished(let status, let message) = answer, message?.isEmpty == false else { return nil }
            return status
        }
        try await with("TestHandler") { host, pointer in
            #expect(await promise(host, pointer, "locked") == .finished(SEARCHLIGHT_FAILED, "The note is locked."))
            #expect(
                await promise(host, pointer, "locked", file: true)
                    == .finished(SEARCHLIGHT_FAILED, "The note is locked."))
            #expect(status(await promise(host, pointer, "unknown")) == SEARCHLIGHT_NOT_FOUND)
            #expect(status(await promise(host, pointer, "unknown", file: false)) == SEARCHLIGHT_NOT_FOUND)
            #expect(status(await promise(host, pointer, "web", file: false)) == SEARCHLIGHT_FAILED)
            #expect(status(await promise(host, pointer, "super")) == SEARCHLIGHT_UNSUPPORTED)
        }
        try await with("BareHandler") { host, pointer in
            #expect(status(await promise(host, pointer, "a")) == SEARCHLIGHT_UNSUPPORTED)
            #expect(status(await promise(host, pointer, "a", file: true)) == SEARCHLIGHT_UNSUPPORTED)
        }
    }

    @Test func malformedTextsAreRefused() async throws {
        try await with("TestHandler") { host, pointer in
            let table = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_PROMISES, of: pointer, as: searchlight_extension_promises.self))
            let invalid: [CChar] = [-1, -2, 0]
            table.provide_data(pointer, 7, invalid, "public.text")
            table.provide_data(pointer, 8, nil, "public.text")
            let reindex = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_REINDEX, of: pointer, as: searchlight_extension_reindex.self))
            reindex.reindex_items(pointer, 9, nil, 3)
            #expect(
                host.allAnswers.allSatisfy {
                    guard case .finished(SEARCHLIGHT_INVALID_ARGUMENT, _) = $0 else { return false }
                    return true
                })
            #expect(host.allAnswers.count == 3)
        }
    }

    // MARK: Previews and throttling

    @Test func previewsOfFilesAreRendered() async throws {
        try await with("TestHandler") { host, pointer in
            #expect(
                await preview(host, pointer, "a", path: "/tmp/a b")
                    == .preview(type: "public.plain-text", title: "Title", text: "/tmp/a b"))
            #expect(
                await preview(host, pointer, "a", path: "/tmp/locked")
                    == .finished(SEARCHLIGHT_FAILED, "The note is locked."))
            guard case .finished(SEARCHLIGHT_UNSUPPORTED, _)? = await preview(host, pointer, "a") else {
                Issue.record("an item without a file was not passed on")
                return
            }
        }
    }

    @Test func previewsOfItemsAreRendered() async throws {
        try await with("ItemPreviewer") { host, pointer in
            #expect(
                await preview(host, pointer, "a", query: "q", path: "/tmp/x")
                    == .preview(type: "public.html", title: nil, text: "a q"))
            #expect(await preview(host, pointer, "a") == .preview(type: "public.html", title: nil, text: "a no query"))
        }
    }

    @Test func htmlIsHandedOverInUnicodeWithItsAttachments() async throws {
        try await with("PreviewingRequestHandler") { host, pointer in
            #expect(
                await preview(host, pointer, "a", path: "/tmp/x")
                    == .preview(
                        type: "public.html", title: "Made", text: "<p>café <img src=\"cid:logo\">",
                        attachments: ["logo public.png [1, 2, 3]"]))
        }
    }

    @Test func filesAreReadIfTheyCanBeShown() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a.htm", "a.exe"] { try Data("text".utf8).write(to: folder.appendingPathComponent(name)) }
        try await with("PreviewProvider") { host, pointer in
            #expect(
                await preview(host, pointer, "a", path: folder.appendingPathComponent("a.htm").path)
                    == .preview(type: "public.html", title: nil, text: "text"))
            for (name, status) in [("a.exe", SEARCHLIGHT_FAILED), ("missing.png", SEARCHLIGHT_NOT_FOUND)] {
                let path = folder.appendingPathComponent(name).path
                guard case .finished(status, _)? = await preview(host, pointer, "a", path: path) else {
                    Issue.record("\(name) was shown, or failed otherwise")
                    continue
                }
            }
            #expect(
                host.interface(SEARCHLIGHT_EXTENSION_REINDEX, of: pointer, as: searchlight_extension_reindex.self)
                    == nil)
        }
    }

    /// The host sets the limit.
    @Test func previewsOverTheLimitAreRefusedBeforeTheyAreSent() throws {
        func render(_ count: Int) throws -> Int {
            let reply = QLPreviewReply(dataOfContentType: .pdf, contentSize: .zero) { _ in Data(count: count) }
            return try RenderedPreview(reply).data.count
        }
        #expect(try render(32 << 20) == 32 << 20)
        let failure = #expect(throws: HostFailure.self) { try render((32 << 20) + 1) }
        #expect(failure?.status == SEARCHLIGHT_TOO_LARGE)
    }

    @Test(arguments: ["twice", "nothing", "never"])
    func carelessPreviewHandlersFailTheRequest(_ name: String) async throws {
        try await with("CarelessPreviewer") { host, pointer in
            guard case .finished(SEARCHLIGHT_FAILED, _)? = await preview(host, pointer, "a", path: "/tmp/\(name)")
            else {
                Issue.record("answered with \(host.allAnswers)")
                return
            }
            #expect(host.allAnswers.count == 1)
        }
    }

    @Test func cancelledPreviewsAreNotMade() async throws {
        try await with("TestHandler") { host, pointer in
            host.cancel()
            guard case .finished(SEARCHLIGHT_CANCELLED, _)? = await preview(host, pointer, "a", path: "/tmp/a") else {
                Issue.record("answered with \(host.allAnswers)")
                return
            }
        }
    }

    @Test func aPreviewThatIsUnderWayIsCancelledWithItsTask() async throws {
        try await with("PatientPreviewer") { host, pointer in
            let table = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_PREVIEW, of: pointer, as: searchlight_extension_preview.self))
            table.preview(pointer, 9, "a", nil, nil)
            await host.waitForCancelHandler()
            #expect(host.allAnswers.isEmpty)
            host.cancel()
            guard case .finished(SEARCHLIGHT_CANCELLED, _)? = await host.answer(to: 9) else {
                Issue.record("answered with \(host.allAnswers)")
                return
            }
        }
    }

    @Test func attachmentsWithOddKeysGetPlainIdentifiers() throws {
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: CGSize(width: 300, height: 200)) { _ in
            Data("<img src='cid:my picture@2x'><img src='cid:my'>".utf8)
        }
        reply.attachments = [
            "my": QLPreviewReplyAttachment(data: Data([1]), contentType: .png),
            "my picture@2x": QLPreviewReplyAttachment(data: Data([2]), contentType: .png),
        ]
        let preview = try RenderedPreview(reply)
        #expect(
            String(decoding: preview.data, as: UTF8.self)
                == "<img src='cid:searchlight-attachment-0'><img src='cid:my'>")
        #expect(preview.size == CGSize(width: 300, height: 200))
        #expect(preview.attachments.map(\.identifier) == ["searchlight-attachment-0", "my"])
        #expect(preview.attachments.map { Array($0.data) } == [[2], [1]])
        reply.attachments = Dictionary(
            uniqueKeysWithValues: (0...256).map {
                ("\($0)", QLPreviewReplyAttachment(data: Data(), contentType: .png))
            })
        let failure = #expect(throws: HostFailure.self) { try RenderedPreview(reply) }
        #expect(failure?.status == SEARCHLIGHT_TOO_LARGE)
    }

    @Test func throttlingIsToldToTheHandler() async throws {
        try await with("TestHandler") { host, pointer in
            let table = try #require(
                host.interface(SEARCHLIGHT_EXTENSION_THROTTLE, of: pointer, as: searchlight_extension_throttle.self))
            TestHandler.throttles.withLock { $0 = [] }
            table.did_throttle(pointer, nil)
            table.did_finish_throttle(pointer)
            #expect(TestHandler.throttles.withLock { $0 } == ["throttle", "finish"])
        }
    }

    // MARK: Making the principal object

    @Test func theEntryIsStatic() {
        let host = FakeHost(principalClass: nil)
        #expect(searchlightCoreSpotlightEntryPoint() == searchlightCoreSpotlightEntryPoint())
        #expect(host.entryTable.identifier == nil)
        #expect(host.entryTable.size == UInt32(MemoryLayout<searchlight_extension_entry>.size))
        #expect(host.entryTable.abi_major == SEARCHLIGHT_ABI_MAJOR)
    }

    @Test func theIndexIsThereWhenTheObjectIsMade() async throws {
        try await with("CuriousHandler") { host, pointer in
            #expect(await promise(host, pointer, "a") == .data(Array("true true".utf8)))
        }
    }

    @Test(arguments: [
        ("InjectedHandler", "injected 3 InjectedHandler"), ("DeepHandler", "injected and more 3 DeepHandler"),
    ])
    func classesWithInitializersOfTheirOwnAreMadeWhole(_ name: String, _ answer: String) async throws {
        try await with(name) { host, pointer in
            #expect(await promise(host, pointer, "a") == .data(Array(answer.utf8)))
        }
    }

    @Test func previewProvidersWithInitializersOfTheirOwnAreMadeWhole() async throws {
        let made = try PrincipalClass.make("CoreSpotlightTests.InjectedPreviewProvider", in: "the test")
        let provider = try #require(made as? InjectedPreviewProvider)
        let request = QLFilePreviewRequest(fileURL: URL(filePath: "/a"))
        let title = try await provider.providePreview(for: request).title
        #expect(title == "injected")
    }

    @Test func onlyServedInterfacesAreOffered() async throws {
        try await with("BareHandler") { host, pointer in
            #expect(
                host.interface(SEARCHLIGHT_EXTENSION_PREVIEW, of: pointer, as: searchlight_extension_preview.self)
                    == nil)
            #expect(host.interface("searchlight.paging/1", of: pointer, as: searchlight_extension_reindex.self) == nil)
            let first = host.entryTable.get_interface(pointer, SEARCHLIGHT_EXTENSION_REINDEX)
            #expect(first != nil && first == host.entryTable.get_interface(pointer, SEARCHLIGHT_EXTENSION_REINDEX))
        }
    }

    @Test(
        arguments: [
            (nil, SEARCHLIGHT_INVALID_ARGUMENT, "NSExtensionPrincipalClass"),
            ("", SEARCHLIGHT_INVALID_ARGUMENT, "Module.Class"),
            ("CoreSpotlightTests.Missing", SEARCHLIGHT_NOT_FOUND, "CoreSpotlightTests.Missing is not in"),
            ("TestHandler", SEARCHLIGHT_INVALID_ARGUMENT, "form Module.Class"),
            ("A.B.C", SEARCHLIGHT_INVALID_ARGUMENT, "Nested"),
            ("A.$(B)", SEARCHLIGHT_INVALID_ARGUMENT, "form Module.Class"),
            (".", SEARCHLIGHT_INVALID_ARGUMENT, "form Module.Class"),
            ("CoreSpotlightTests.NotAHandler", SEARCHLIGHT_UNSUPPORTED, "inherits neither"),
            ("CoreSpotlightTests.NotPreviewing", SEARCHLIGHT_UNSUPPORTED, "QLPreviewingController"),
        ] as [(String?, Int32, String)])
    func classesThatCannotServeAreNamed(_ name: String?, _ status: Int32, _ part: String) {
        let created = FakeHost(principalClass: name).create()
        #expect(created.extension == nil)
        #expect(created.status == status)
        #expect(created.message.contains(part), "\(created.message)")
        #expect(!CSSearchableIndex.isIndexingAvailable())
    }

    @Test func hostsOfAnotherVersionAreRefused() {
        let host = FakeHost(principalClass: "CoreSpotlightTests.BareHandler", abiMajor: 2)
        #expect(host.create().status == SEARCHLIGHT_UNSUPPORTED)
        host.host.pointee.abi_major = SEARCHLIGHT_ABI_MAJOR
        host.host.pointee.size = 8
        #expect(host.create().status == SEARCHLIGHT_INVALID_ARGUMENT)
        host.host.pointee.size = UInt32(MemoryLayout<searchlight_host>.size)
        host.host.pointee.get_interface = { _, _ in nil }
        #expect(host.create().status == SEARCHLIGHT_UNSUPPORTED)
    }

    @Test(arguments: [0, 1, 2, 10, 60]) func longErrorsAreCutToTheirRoom(_ capacity: Int) {
        let host = FakeHost(principalClass: "CoreSpotlightTests.Größe")
        let message = host.create(errorCapacity: capacity).message
        #expect(message.utf8.count < max(capacity, 1))
        #expect(host.create(errorCapacity: 1000).message.hasPrefix(message))
    }
}

extension [UInt8]? {
    /// Passes the bytes; a null pointer for `nil`.
    fileprivate func withOptionalBytes(_ body: (UnsafeRawPointer?, Int) -> Void) {
        guard let self else { return body(nil, 0) }
        self.withUnsafeBytes { body($0.baseAddress, $0.count) }
    }
}
