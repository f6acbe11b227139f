// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import Promises
import ServiceMessages
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import WindowModel

/// Fulfils promises as the test requires, and counts the requests.
private final class FakePromises: PromiseProvider {
    typealias Answer = @Sendable (Representation) async throws -> PromisedContent
    private let answer: Answer
    let requests = Mutex<[Representation]>([])
    let warmed = Mutex(0)

    init(_ answer: @escaping Answer) { self.answer = answer }

    func prewarm(_ items: [String]) async { warmed.withLock { $0 += items.count } }

    func fulfil(
        _ promise: Representation, of item: String, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        requests.withLock { $0.append(promise) }
        do { return ProvidedContent(try await answer(promise), wasRetried: false) } catch {
            throw error as? ProviderFailure ?? ProviderFailure(.failed, "\(error)", cause: error)
        }
    }
}

private struct Denied: Error {}

@Suite("A dragged item")
struct DraggedItemTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private func drag(
        data: [String] = [], files: [String] = [], originals: [String] = [], _ provider: FakePromises
    ) -> DraggedItem<FakePromises> {
        func list(_ types: [String]) -> AttributeValue { .array(types.map { .string($0) }) }
        let record = ItemRecord(
            uniqueIdentifier: "a",
            attributes: [
                "providerDataTypeIdentifiers": list(data), "providerFileTypeIdentifiers": list(files),
                "providerInPlaceFileTypeIdentifiers": list(originals),
            ])
        return DraggedItem(
            "a", title: "Report", offer: DragOffer(record), provider: provider,
            folder: DropFolder(path: temporary.path("drops")),
            name: { FileName(title: "Report 1", fileExtension: $0 == "public.png" ? "png" : "txt") })
    }

    private func bytes(_ content: DroppedContent) async throws -> [UInt8] {
        var all: [UInt8] = []
        try await content.forEachPiece { all += $0 }
        return all
    }

    /// All files below the drop folder.
    private var files: [String] {
        (FileManager.default.enumerator(atPath: temporary.path("drops"))?.allObjects as? [String] ?? [])
            .filter { URL(filePath: temporary.path("drops/\($0)")).hasDirectoryPath == false && $0.contains("/") }
    }

    @Test("Nothing is requested before a receiver asks, and each representation only once")
    func once() async throws {
        let provider = FakePromises { _ in .data(.inline(Array("hello".utf8))) }
        let drag = drag(data: ["public.plain-text"], provider)
        await drag.prewarm()
        #expect(provider.requests.withLock { $0.isEmpty } && provider.warmed.withLock { $0 } == 1)
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for name in ["text/plain", "text/plain;charset=utf-8", "text/plain", "text/plain"] {
                group.addTask { try await self.bytes(try await drag.content(of: name)) }
            }
            for try await found in group { #expect(found == Array("hello".utf8)) }
        }
        #expect(provider.requests.withLock { $0 } == [Representation(type: "public.plain-text", form: .data)])
    }

    @Test("A large representation arrives whole, in pieces", arguments: [0, 1, FilePieces.pieceBytes, 3_000_001])
    func large(_ count: Int) async throws {
        var random = SplitMix64(seed: UInt64(count))
        let sent = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let path = try temporary.write(sent, to: "source")
        let provider = FakePromises { _ in
            .file(FileReply(descriptor: OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC)), name: "source"))
        }
        let content = try await drag(files: ["public.png"], provider).content(of: "image/png")
        var pieces = 0
        try await content.forEachPiece { piece in
            pieces += 1
            #expect(piece.count <= FilePieces.pieceBytes)
        }
        #expect(try await bytes(content) == sent)
        #expect(pieces == (count + FilePieces.pieceBytes - 1) / FilePieces.pieceBytes)
    }

    @Test("A file is copied into a folder that only this user reads, and its address is answered")
    func copy() async throws {
        let provider = FakePromises { _ in .data(.inline([1, 2, 3])) }
        let drag = drag(files: ["public.png"], provider)
        let address = String(decoding: try await bytes(try await drag.content(of: "text/uri-list")), as: UTF8.self)
        #expect(address.hasPrefix("file://") && address.hasSuffix("/Report%201.png\r\n"))
        let path = try #require(URL(string: address.trimmingCharacters(in: .newlines))).path
        #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3]))
        let mode = try FileManager.default.attributesOfItem(atPath: temporary.path("drops"))[.posixPermissions] as? Int
        #expect(mode == 0o700)
        // The bytes come from the same file.
        #expect(try await bytes(try await drag.content(of: "image/png")) == [1, 2, 3])
        #expect(provider.requests.withLock { $0.count } == 1)
    }

    @Test("The original is answered in place, and nothing is copied")
    func original() async throws {
        let path = try temporary.write([7], to: "Original a%.txt")
        let provider = FakePromises { _ in
            .file(FileReply(descriptor: OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC)), name: "x"))
        }
        let drag = drag(originals: ["public.plain-text"], provider)
        let address = String(decoding: try await bytes(try await drag.content(of: "text/uri-list")), as: UTF8.self)
        #expect(URL(string: address.trimmingCharacters(in: .newlines))?.path == path)
        #expect(files.isEmpty)
    }

    @Test("The portal gets the file of the address, which is requested once")
    func portal() async throws {
        let provider = FakePromises { _ in .data(.inline([1, 2, 3])) }
        let drag = drag(files: ["public.png"], provider)
        let address = String(decoding: try await bytes(try await drag.content(of: "text/uri-list")), as: UTF8.self)
        for name in MediaType.fileTransfers {
            guard case .transfer(let path) = try await drag.content(of: name) else { return #expect(Bool(false)) }
            #expect(URL(filePath: path).absoluteString + "\r\n" == address)
        }
        #expect(provider.requests.withLock { $0.count } == 1)
    }

    @Test("A denied promise leaves no file, and a later request asks again")
    func denied() async throws {
        let allows = Mutex(false)
        let provider = FakePromises { _ in
            guard allows.withLock({ $0 }) else { throw ProviderFailure(.refused, "Not now.", cause: Denied()) }
            return .data(.inline([1]))
        }
        let drag = drag(data: ["public.plain-text"], provider)
        let failure = await #expect(throws: DragFailure.self) { try await drag.content(of: "text/plain") }
        #expect(failure?.kind == .refused && failure?.message == "Not now." && files.isEmpty)
        allows.withLock { $0 = true }
        #expect(try await bytes(try await drag.content(of: "text/plain")) == [1])
    }

    @Test("Content that breaks off is not delivered in part")
    func broken() async throws {
        let provider = FakePromises { _ in
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw Denied() }
            write(ends[1], "half", 4)
            close(ends[1])
            return .data(.stream(OwnedDescriptor(adopting: ends[0]), length: 8))
        }
        await #expect(throws: DragFailure.self) {
            try await drag(data: ["public.plain-text"], provider).content(of: "text/plain")
        }
        #expect(files.isEmpty)
    }

    @Test("A drag that ends without a drop cancels its requests and removes its files")
    func discarded() async throws {
        let provider = FakePromises { promise in
            if promise.type == "public.png" { return .data(.inline([1])) }
            try await Task.sleep(for: .seconds(600))
            return .data(.inline([2]))
        }
        let drag = drag(data: ["public.png", "public.html"], provider)
        _ = try await drag.content(of: "image/png")
        #expect(files.count == 1)
        async let waiting: DroppedContent = drag.content(of: "text/html")
        while provider.requests.withLock({ $0.count }) < 2 { await Task.yield() }
        await drag.discard()
        let failure: DragFailure?
        do {
            _ = try await waiting
            failure = nil
        } catch { failure = error as? DragFailure }
        #expect(failure?.kind == .cancelled && files.isEmpty)
    }

    @Test("A type that is not offered is refused without a request")
    func notOffered() async throws {
        let provider = FakePromises { _ in .data(.inline([])) }
        let drag = drag(data: ["public.png"], provider)
        let failure = await #expect(throws: DragFailure.self) { try await drag.content(of: "text/html") }
        #expect(failure?.kind == .unsupportedType && provider.requests.withLock { $0.isEmpty })
    }

    @Test("Old drops are removed, and recent ones stay")
    func oldDrops() throws {
        let folder = DropFolder(path: temporary.path("drops"))
        let (old, recent) = (try folder.makeFolder(), try folder.makeFolder())
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -100_000)], ofItemAtPath: old)
        folder.removeOld()
        #expect(!FileManager.default.fileExists(atPath: old) && FileManager.default.fileExists(atPath: recent))
    }

    @Test("A link in place of the folder of drops is refused")
    func linkedFolder() throws {
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("drops"), withDestinationPath: temporary.path)
        #expect(throws: DropFolder.Unusable.self) { try DropFolder(path: temporary.path("drops")).makeFolder() }
    }
}
