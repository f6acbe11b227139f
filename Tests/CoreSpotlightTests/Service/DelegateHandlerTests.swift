// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import Glibc
import ItemRecord
import ServiceMessages
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import CoreSpotlight

@Suite("Requests of the service", .timeLimit(.minutes(10)))
struct DelegateHandlerTests {
    /// Records its requests and answers as configured.
    final class Delegate: NSObject, CSSearchableIndexDelegate, Sendable {
        let kept = Mutex<[@Sendable () -> Void]>([])
        let requests = Mutex<[String]>([])
        let answer: @Sendable (String) throws -> String?

        init(_ answer: @escaping @Sendable (String) throws -> String? = { _ in nil }) { self.answer = answer }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
        ) { kept.withLock { $0.append(acknowledgementHandler) } }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping @Sendable () -> Void
        ) {
            requests.withLock { $0 += identifiers }
            if identifiers != ["never"] { for _ in 0..<3 { acknowledgementHandler() } }
        }

        func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {
            requests.withLock { $0.append("slow \(searchableIndex.name ?? "")") }
        }

        func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
            requests.withLock { $0.append("fast") }
        }

        func data(
            for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
        ) throws -> Data { Data((try answer(itemIdentifier) ?? "").utf8) }

        func fileURL(
            for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
        ) throws -> URL { try answer(itemIdentifier).map { URL(filePath: $0) } ?? URL(string: "file://")! }
    }

    /// An app with delegates, at the other end of a socket pair.
    private final class App: Sendable {
        let service: BusConnection
        private let app: BusConnection
        let delegates: IndexDelegates
        let changes: Changes

        final class Changes: Sendable { let all = Mutex<[Bool]>([]) }

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let changes = Changes()
            let delegates = IndexDelegates { isWanted in changes.all.withLock { $0.append(isWanted) } }
            self.changes = changes
            self.delegates = delegates
            service = try BusConnection(
                adopting: OwnedDescriptor(adopting: ends[0]), side: .server, name: "test-service", onCall: { _ in },
                onDisconnect: { _ in })
            app = try BusConnection(
                adopting: OwnedDescriptor(adopting: ends[1]), side: .client, name: "test-app",
                onCall: DelegateHandler { delegates.asked }.receive, onDisconnect: { _ in })
        }

        func index(
            _ name: String?, _ delegate: any CSSearchableIndexDelegate,
            _ protection: FileProtectionType = .completeUntilFirstUserAuthentication,
            transport: RecordingTransport = RecordingTransport()
        ) -> CSSearchableIndex {
            let index = CSSearchableIndex(
                name: name, sender: RequestSender(transport: transport), delegates: delegates,
                protectionClass: protection)
            index.indexDelegate = delegate
            return index
        }

        func ask(_ request: WorkerRequest) async throws -> [BusValue] {
            try await service.call(request.member, request.arguments)
        }

        /// Returns the status and message with which a request is rejected.
        func refusal(_ request: WorkerRequest) async -> (status: ExtensionStatus, message: String)? {
            do { _ = try await ask(request) } catch BusError.remote(let name, let message) {
                return (ExtensionStatus(errorName: name), message)
            } catch {}
            return nil
        }
    }

    @Test("Every delegate is asked to reindex, and all must acknowledge; a second acknowledgement is ignored")
    func reindexing() async throws {
        let app = try App()
        let (first, second) = (Delegate(), Delegate())
        let indexes = [app.index(nil, first), app.index("n", second)]
        _ = try await app.ask(.reindexItems(["a", "b"]))
        #expect(first.requests.withLock { $0 } == ["a", "b"] && second.requests.withLock { $0 } == ["a", "b"])
        async let all = app.ask(.reindexAll)
        while first.kept.withLock({ $0.isEmpty }) || second.kept.withLock({ $0.isEmpty }) { await Task.yield() }
        first.kept.withLock { $0.removeLast() }()
        // The reindex still waits for the second delegate, so the throttle notice is answered
        // first.
        _ = try await app.ask(.didThrottle(ThrottleNotice(reason: .battery)))
        second.kept.withLock { $0.removeLast() }()
        _ = try await all
        #expect(second.requests.withLock { $0.last } == "slow n")
        let refusal = await app.refusal(.reindexItems(["never"]))
        #expect(refusal?.status == .failed && refusal?.message.contains("without being called") == true)
        withExtendedLifetime(indexes) {}
    }

    /// Acknowledges and records its requests, and provides all items if it is asked for them.
    private final class Provider: NSObject, CSSearchableIndexDelegate, Sendable {
        private let requests = Mutex<[String]>([])
        var taken: [String] {
            requests.withLock { requests in
                defer { requests = [] }
                return requests
            }
        }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
        ) {
            requests.withLock { $0.append("all") }
            acknowledgementHandler()
        }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping @Sendable () -> Void
        ) {
            requests.withLock { $0.append("reindex \(identifiers)") }
            acknowledgementHandler()
        }

        func searchableItems(
            forIdentifiers identifiers: [String], protectionClass: FileProtectionType
        ) async -> [CSSearchableItem] {
            requests.withLock { $0.append("provide \(identifiers) \(protectionClass.rawValue)") }
            return identifiers.map {
                CSSearchableItem(
                    uniqueIdentifier: $0, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
            }
        }
    }

    @Test(
        "Items of an encrypted index are requested by its name, and donated at once with its class",
        arguments: [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication] as [FileProtectionType])
    func encryptedItems(protection: FileProtectionType) async throws {
        let app = try App()
        let (named, other) = (Provider(), Provider())
        let transport = RecordingTransport()
        let indexes = [
            app.index("health", named, protection, transport: transport), app.index("notes", other, .complete),
        ]
        // The app's own batch holds nothing of the request back.
        indexes[0].beginBatch()
        _ = try await app.ask(
            .reindexEncrypted(EncryptedItems(index: "health", protection: .complete, identifiers: ["a"])))
        #expect(named.taken == ["provide [\"a\"] \(FileProtectionType.complete.rawValue)"] && other.taken == [])
        #expect(transport.sent.map(\.index) == ["health"])
        let classes = transport.sent.map { request -> ProtectionClass? in
            guard case .commit(let batch) = request else { return nil }
            return batch.protection
        }
        #expect(classes == [.complete])
        let refusal = await app.refusal(
            .reindexEncrypted(EncryptedItems(index: "gone", protection: .complete, identifiers: ["a"])))
        #expect(refusal?.status == .unsupported && refusal?.message == EncryptedItems.noDelegate)
        #expect(named.taken == [] && other.taken == [])
        withExtendedLifetime(indexes) {}
    }

    @Test("Without the locked indexes, the delegates of the others are asked, or nobody")
    func unlocked() async throws {
        let app = try App()
        let (plain, locked, new) = (Provider(), Provider(), Provider())
        var indexes = [app.index("health", locked), app.index("inbox", new, .completeUnlessOpen)]
        _ = try await app.ask(.reindexUnlocked(lockedIndexes: ["health"]))
        #expect(locked.taken == [] && new.taken == [])
        indexes.append(app.index("plain", plain))
        _ = try await app.ask(.reindexUnlocked(lockedIndexes: ["health"]))
        #expect(plain.taken == ["all"] && locked.taken == [] && new.taken == [])
        withExtendedLifetime(indexes) {}
    }

    @Test("Other items are requested from the delegates of other indexes, or from all if there are none")
    func otherItems() async throws {
        let app = try App()
        let (encrypted, plain) = (Provider(), Provider())
        var indexes = [app.index("health", encrypted, .complete)]
        _ = try await app.ask(.reindexItems(["a"]))
        #expect(encrypted.taken == ["reindex [\"a\"]"])
        indexes.append(app.index("plain", plain))
        _ = try await app.ask(.reindexItems(["a"]))
        #expect(encrypted.taken == [] && plain.taken == ["reindex [\"a\"]"])
        withExtendedLifetime(indexes) {}
    }

    @Test("A promise goes from one delegate to the next until one fulfils it")
    func promises() async throws {
        let app = try App()
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("text".utf8), to: "a note.txt")
        let silent = Delegate()
        let knowing = Delegate { item in
            switch item {
            case "small": return "data"
            case "large": return String(repeating: "x", count: 1 << 20)
            case "file": return path
            case "folder": return folder.path
            case "pipe": return folder.path("pipe")
            case "missing": return folder.path("nothing")
            case "locked": throw CSIndexError(.unknownError, "It is locked.")
            default: return nil
            }
        }
        let indexes = [app.index(nil, silent), app.index("n", knowing), app.index("m", silent)]
        for (item, count) in [("small", 4), ("large", 1 << 20)] {
            let answer = try await app.ask(.provideData(item: item, type: "public.text"))
            var arguments = BusArguments(answer, of: "ProvideData")
            #expect(try Payload(&arguments).bytes(upTo: 2 << 20).count == count)
        }
        let answer = try await app.ask(.provideFile(item: "file", type: "public.text", inPlace: false))
        var arguments = BusArguments(answer, of: "ProvideFile")
        let file = try FileReply(&arguments)
        #expect(file.name == "a note.txt")
        #expect(try Payload.stream(file.descriptor, length: 4).bytes(upTo: 4) == Array("text".utf8))
        let unknown = await app.refusal(.provideData(item: "unknown", type: "t"))
        #expect(unknown?.status == .notFound)
        let locked = await app.refusal(.provideData(item: "locked", type: "t"))
        #expect(locked?.status == .failed && locked?.message == "It is locked.")
        let missing = await app.refusal(.provideFile(item: "missing", type: "t", inPlace: true))
        #expect(missing?.status == .notFound)
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let noFile = await app.refusal(.provideFile(item: "pipe", type: "t", inPlace: true))
        #expect(noFile?.status == .unsupported)
        // The folder may be a package, which users see as one document.
        let package = try await app.ask(.provideFile(item: "folder", type: "t", inPlace: true))
        var reply = BusArguments(package, of: "ProvideFile")
        var status = stat()
        #expect(fstat(try FileReply(&reply).descriptor.number, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFDIR)
        withExtendedLifetime(indexes) {}
    }

    @Test("Previews, other methods and malformed requests are rejected")
    func refusals() async throws {
        let app = try App()
        let delegate = Delegate()
        let index = app.index(nil, delegate)
        let preview = await app.refusal(.preview(item: "a", query: nil, contentPath: nil))
        #expect(preview?.status == .unsupported)
        let load = await app.refusal(.load(LoadRequest(bundlePath: "", libraryPath: "", bundleIdentifier: "")))
        #expect(load?.status == .unsupported)
        await #expect(throws: BusError.self) {
            try await app.service.call(BusMember(WorkerRequest.interface, "ReindexItems"), [.unsigned(1)])
        }
        await #expect(throws: BusError.self) {
            try await app.service.call(BusMember(WorkerRequest.interface, "Explode"), [])
        }
        withExtendedLifetime(index) {}
    }

    @Test("The app is registered with the first delegate, and unregistered with the last one")
    func registration() async throws {
        let app = try App()
        var delegates: [Delegate] = [Delegate(), Delegate()]
        var indexes = [app.index("a", delegates[0]), app.index("b", delegates[1])]
        #expect(app.changes.all.withLock { $0 } == [true])
        indexes[0].indexDelegate = nil
        indexes[0].indexDelegate = nil
        #expect(app.changes.all.withLock { $0 } == [true])
        // The index is released, but its delegate remains.
        indexes.removeLast()
        #expect(app.changes.all.withLock { $0 } == [true, false])
        indexes[0].indexDelegate = delegates[0]
        #expect(app.changes.all.withLock { $0 } == [true, false, true])
        // The delegate is released, but its index remains. The next request shows that.
        delegates = []
        let refusal = await app.refusal(.reindexAll)
        #expect(refusal?.status == .unavailable)
        #expect(app.changes.all.withLock { $0 } == [true, false, true, false])
    }
}
