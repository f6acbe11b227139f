// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Glibc
import ItemRecord
import SearchlightEngine
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Forbidden requests of clients, over a socket", .timeLimit(.minutes(10)))
struct RightsTests {
    @Test("Nothing is answered before the first call, and the first call is accepted once")
    func order() async throws {
        let service = try await TestService()
        let client = try service.connect()
        let early = await refusal { try await client.donate(["a"]) }
        #expect(early == ServiceErrorName.accessDenied)
        let earlyQuery = await refusal { _ = try await client.query("title == '*'") }
        #expect(earlyQuery == ServiceErrorName.accessDenied)
        let welcome = try await client.hello(.app, bundle: "com.example.notes")
        #expect(welcome.bundle == "com.example.notes")
        #expect(welcome.processIdentifier == UInt64(getpid()))
        let second = await refusal { try await client.hello(.app, bundle: "com.example.other") }
        #expect(second == ServiceErrorName.accessDenied)
        let secondAsShell = await refusal { try await client.hello(.shell, bundle: nil) }
        #expect(secondAsShell == ServiceErrorName.accessDenied)
        try await client.donate(["a"])
        let other = try await service.app("com.example.other")
        let seen = try await other.query("title == '*'").identifiers
        #expect(seen.isEmpty)
        await service.stop()
    }

    @Test("An app finds, completes and deletes only its own items")
    func otherBundles() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        let mail = try await service.app("com.example.mail")
        try await notes.donate(["secret"], title: "zebracorn meeting")
        try await mail.donate(["letter"], title: "zebra crossing")
        let found = try await mail.query("title == '*zebra*'").identifiers
        #expect(found == ["letter"])
        let searched = try await mail.search("zebra").identifiers
        #expect(searched == ["letter"])
        let suggested = try await mail.suggestions("zebrac")
        #expect(suggested == ["zebra"], "the correction is a word of its own")
        let own = try await notes.suggestions("the zebrac")
        #expect(own.isEmpty, "not all words are in the item")
        let completed = try await notes.suggestions("meeting zebra")
        #expect(completed == ["meeting zebracorn"])
        try await mail.index(.deleteItems(["secret"]))
        try await mail.index(.deleteAll)
        var changes = ChangeList()
        changes.append(.deleteItems(["secret"]))
        changes.append(.deleteAll)
        try await mail.index(.commitBatch(changes: changes.bytes, clientState: [1], expecting: .any))
        let left = try await notes.query("title == '*'").identifiers
        #expect(left == ["secret"])
        let state = try await notes.clientState()
        #expect(state == nil)
        await service.stop()
    }

    @Test("An app reads its own items by identifier, in the default index first, with all supertypes of their types")
    func records() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        let mail = try await service.app("com.example.mail")
        func donate(_ title: String, in index: String?) async throws {
            var batch: [UInt8] = []
            let item = try record("a", title: title, attributes: ["contentType": .string("public.html")])
            RecordBatch.append(item, to: &batch)
            try await notes.index(.put(batch), in: index)
        }
        try await donate("named", in: "drafts")
        let named = try await notes.item("a")
        #expect(try ItemRecord(decoding: try #require(named.record)).text("title") == "named")
        try await donate("default", in: nil)
        let first = try await notes.item("a")
        #expect(try ItemRecord(decoding: try #require(first.record)).text("title") == "default")
        #expect(Set(first.types).isSuperset(of: ["public.html", "public.text", "public.data"]))
        #expect(!first.types.contains("public.image"))
        for (client, name) in [(mail, "a"), (notes, "b"), (notes, "")] {
            #expect(try await client.item(name) == RecordReply(record: nil))
        }
        await service.stop()
    }

    @Test("Foreign, mismatched and invented cursors show nothing of others")
    func cursors() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        let mail = try await service.app("com.example.mail")
        try await notes.donate((0..<5).map { "note \($0)" })
        try await mail.donate((0..<5).map { "letter \($0)" })
        let first = try await notes.query("title == '*'", limit: 2)
        #expect(first.identifiers == ["note 0", "note 1"])
        let stolen = await refusal { _ = try await mail.query("title == '*'", cursor: first.next) }
        #expect(stolen == ServiceErrorName.invalidQuery)
        let mixed = await refusal { _ = try await notes.query("title == 'note*'", cursor: first.next) }
        #expect(mixed == ServiceErrorName.invalidQuery)
        let asSearch = await refusal { _ = try await notes.search("note", cursor: first.next) }
        #expect(asSearch == ServiceErrorName.invalidQuery)
        let rest = try await notes.query("title == '*'", cursor: first.next)
        #expect(rest.identifiers == ["note 2", "note 3", "note 4"])
        #expect(rest.next.isEmpty)
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var forged = first.next
            for _ in 0...random.below(3) { forged[random.below(forged.count)] = UInt8(random.below(256)) }
            if random.below(4) == 0 { forged.removeLast(random.below(forged.count)) }
            guard let page = try? await notes.query("title == '*'", cursor: forged) else { continue }
            #expect(page.identifiers.allSatisfy { $0.hasPrefix("note ") })
        }
        await service.stop()
    }

    @Test("A search gives each item once over its pages, and its forged cursors nothing of others")
    func searchCursors() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        let mail = try await service.app("com.example.mail")
        try await notes.donate((0..<25).map { "note \($0)" })
        try await mail.donate(["note of mail"])
        var all: [String] = []
        var cursor: [UInt8] = []
        repeat {
            let page = try await notes.search("note", cursor: cursor, limit: 10)
            all += page.identifiers
            cursor = page.next
        } while !cursor.isEmpty
        #expect(all.count == 25)
        #expect(Set(all).count == 25)
        var random = SplitMix64(seed: 9)
        let first = try await notes.search("note", limit: 10).next
        for _ in 0..<100 {
            var forged = first
            for _ in 0...random.below(3) { forged[random.below(forged.count)] = UInt8(random.below(256)) }
            guard let page = try? await notes.search("note", cursor: forged, limit: 100) else { continue }
            #expect(page.identifiers.allSatisfy { $0.hasPrefix("note ") && $0 != "note of mail" })
        }
        await service.stop()
    }

    @Test("An app cannot make calls of the tools, and a tool no calls of apps")
    func roles() async throws {
        let service = try await TestService()
        let app = try await service.app()
        for call in ["status", "verify", "repair"] {
            let name = await refusal {
                _ = try await app.connection.call(
                    AdminRequest.performMember, [.string(call), .unsigned(1), .dictionary([:])])
            }
            #expect(name == ServiceErrorName.accessDenied, "\(call)")
        }
        let shell = try await service.shell()
        let donation = await refusal { try await shell.donate(["a"]) }
        #expect(donation == ServiceErrorName.accessDenied)
        let registration = await refusal { _ = try await shell.connection.call(DelegateRequest.register.member, []) }
        #expect(registration == ServiceErrorName.accessDenied)
        let withBundle = try service.connect()
        let refused = await refusal { try await withBundle.hello(.shell, bundle: "com.example.notes") }
        #expect(refused == ServiceErrorName.accessDenied)
        await service.stop()
    }

    @Test(
        "A client may make the calls of an interface if its declaration allows it",
        arguments: Caller.allCases)
    func declaredCallers(caller: Caller) async throws {
        let sandbox: ClientIdentity.Sandbox = caller == .sandboxedApp ? .application("org.gnome.Maps") : .none
        let service = try await TestService(identity: ClientIdentity(user: getuid(), process: 1, sandbox: sandbox))
        let client = try service.connect()
        try await client.hello(caller == .shell ? .shell : .app, bundle: caller == .app ? "com.example.notes" : nil)
        for kind in ClientInterface.all {
            // The method does not exist, so only the permission check can pass.
            let name = await refusal { _ = try await client.connection.call(BusMember(kind.interface, "Nothing"), []) }
            let isAllowed = kind.callers.contains(caller)
            // Some interfaces read an argument that all their methods have before they check the
            // method's name.
            let others = [BusErrorName.unknownMethod, BusErrorName.invalidArguments]
            #expect(isAllowed ? others.contains(name ?? "") : name == ServiceErrorName.accessDenied, "\(kind)")
        }
        let unknown = await refusal {
            _ = try await client.connection.call(BusMember("com.searchlight.Nothing1", "Nothing"), [])
        }
        #expect(unknown == BusErrorName.unknownMethod)
        await service.stop()
    }

    @Test("The whole index is for the tools only, and the data of others' items for no sandbox")
    func declarations() {
        let callers = Dictionary(uniqueKeysWithValues: ClientInterface.all.map { ($0.interface, $0.callers) })
        let apps: Set<Caller> = [.app, .sandboxedApp]
        #expect(
            callers == [
                "com.searchlight.Index1": apps, "com.searchlight.Query1": apps, "com.searchlight.Delegate1": apps,
                "com.searchlight.Promise1": [.app, .shell], "com.searchlight.Search1": [.shell],
                "com.searchlight.Engine2": [.shell], "com.searchlight.Activity1": apps,
                "org.gnome.Shell.SearchProvider2": [.shell], "org.kde.krunner1": [.shell],
            ])
    }

    @Test("A sandboxed client has its sandbox's identity, with any claim, and fetches no data")
    func sandbox() async throws {
        let service = try await TestService(
            identity: ClientIdentity(user: getuid(), process: 1, sandbox: .application("org.gnome.Maps")))
        let liar = try service.connect()
        let denied = await refusal { try await liar.hello(.app, bundle: "com.example.notes") }
        #expect(denied == ServiceErrorName.accessDenied)
        let still = await refusal { try await liar.hello(.app, bundle: nil) }
        #expect(still == ServiceErrorName.accessDenied, "a refused client stays refused")
        let shell = try service.connect()
        let deniedShell = await refusal { try await shell.hello(.shell, bundle: nil) }
        #expect(deniedShell == ServiceErrorName.accessDenied)
        let honest = try service.connect()
        let welcome = try await honest.hello(.app, bundle: nil)
        #expect(welcome.bundle == "org.gnome.Maps")
        let fetch = PromiseRequest.fetchData(bundle: "org.gnome.Maps", item: "a", type: "public.text")
        let fetched = await refusal { _ = try await honest.connection.call(fetch.member, fetch.arguments) }
        #expect(fetched == ServiceErrorName.accessDenied)
        #expect(service.lines.contains("its sandbox has the bundle"))
        await service.stop()
    }

    @Test("Another user's connection is closed")
    func otherUser() async throws {
        let service = try await TestService(
            identity: ClientIdentity(user: getuid() &+ 1, process: 1, sandbox: .none))
        let client = try service.connect()
        let refused = await refusal { try await client.hello(.app, bundle: "com.example.notes") }
        #expect(refused != nil)
        #expect(await eventually { !client.isConnected })
        #expect(service.lines.contains("belongs to another user"))
        await service.stop()
    }

    @Test("Another version of the protocol is rejected with the reason")
    func version() async throws {
        let service = try await TestService()
        let client = try service.connect()
        let refused = await refusal { try await client.hello(.app, bundle: "com.example.notes", version: 99) }
        #expect(refused == ServiceErrorName.unsupportedVersion)
        await service.stop()
    }

    @Test("Clients beyond the limit are rejected with the reason; after one ends, another may connect")
    func connections() async throws {
        var limits = ServiceLimits()
        limits.connections = 2
        let service = try await TestService(limits: limits)
        let first = try await service.app("com.example.a")
        let second = try await service.app("com.example.b")
        let third = try service.connect()
        let refused = await refusal { try await third.hello(.app, bundle: "com.example.c") }
        #expect(refused == BusErrorName.limitsExceeded)
        #expect(await eventually { !third.isConnected })
        second.connection.close()
        #expect(await eventually { service.service.sessionCount == 1 })
        let fourth = try await service.app("com.example.d")
        try await fourth.donate(["a"])
        try await first.donate(["a"])
        await service.stop()
    }
}
