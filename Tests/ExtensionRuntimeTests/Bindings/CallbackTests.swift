// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import ItemRecord
import ServiceMessages
import Testing

@testable import ExtensionRuntime

@Suite("Callbacks of bound functions", .serialized)
struct CallbackTests {
    let host: BindingHost

    init() throws { host = try BindingHost() }

    private func reindex(_ call: String) async throws -> RequestOutcome? {
        let loaded = try host.load("serve reindexAll\nLIBRARY\ncall \(call)")
        return await loaded.ask { $0.reindexAll($1) }
    }

    private func isAcknowledged(_ outcome: RequestOutcome?) -> Bool {
        if case .acknowledged = outcome { true } else { false }
    }

    private func failure(_ outcome: RequestOutcome?) -> String? {
        if case .failed(_, let message) = outcome { message } else { nil }
    }

    @Test("An acknowledgement in the call, or later on another thread", arguments: ["done_now", "done_on_thread"])
    func acknowledged(function: String) async throws {
        #expect(isAcknowledged(try await reindex("\(function)(d: acknowledge())")))
        #expect(host.misuses.isEmpty)
    }

    @Test("A second acknowledgement does nothing and is reported")
    func twice() async throws {
        #expect(isAcknowledged(try await reindex("done_twice(d: acknowledge())")))
        #expect(host.misuses == [.answeredTwice])
    }

    @Test("Sixteen threads that acknowledge at once answer once")
    func manyThreads() async throws {
        #expect(isAcknowledged(try await reindex("done_on_threads(d: acknowledge())")))
        #expect(
            host.misuses.count == 9 || host.misuses.count == 8, "fifteen, of which eight or nine are reported")
        #expect(host.misuses.allSatisfy { $0 == .answeredTwice })
    }

    @Test("An acknowledgement with a failure status fails the request")
    func status() async throws {
        let call = "done_with(d: acknowledge(s: int) succeeds s == 0, v: int = 5)"
        #expect(failure(try await reindex(call)) == "done_with reported a failure: s is 5")
        #expect(isAcknowledged(try await reindex(call.replacing("= 5", with: "= 0"))))
    }

    @Test("A request without an acknowledgement stays open, and others are served")
    func never() async throws {
        let loaded = try host.load("serve reindexAll\nLIBRARY\ncall done_never(d: acknowledge())")
        let number = loaded.session.requests.open { _ in }
        #expect(loaded.bound.reindexAll(number))
        #expect(loaded.session.requests.isPending(number))
        #expect(isAcknowledged(try await reindex("done_now(d: acknowledge())")))
        #expect(loaded.session.requests.isPending(number))
    }

    @Test("A request that waits for its acknowledgement ends when it is cancelled")
    func cancelled() async throws {
        let loaded = try host.load("serve reindexAll\nLIBRARY\ncall done_never(d: acknowledge())")
        let outcome = await withCheckedContinuation { (waiting: CheckedContinuation<RequestOutcome, Never>) in
            let number = loaded.session.requests.open(call: 5) { waiting.resume(returning: $0) }
            #expect(loaded.bound.reindexAll(number))
            if let cancelled = loaded.session.requests.cancel(call: 5) {
                loaded.session.requests.runCancelHandler(cancelled)
            }
        }
        #expect({ if case .failed(.cancelled, _) = outcome { true } else { false } }())
    }

    private static let keepAll = """
        keep_all(d: acknowledge(), i: donate(id: text, _: pointer?, __: pointer?, n: u32, r: f64) -> int = 1 { identifier = id },
            p: progress(c: u64, t: u64) { completed = c, total = t })
        """

    @Test("Callbacks of an ended request do nothing to others, and are reported")
    func late() async throws {
        #expect(isAcknowledged(try await reindex(Self.keepAll)))
        #expect(host.misuses.isEmpty)
        // During another request.
        #expect(isAcknowledged(try await reindex("call_kept()")))
        #expect(host.items.isEmpty)
        #expect(
            host.misuses.sorted { $0.rawValue < $1.rawValue } == [.answeredTwice, .usedAfterRelease, .usedAfterRelease])
    }

    private static func items(_ count: Int) -> String {
        """
        items(i: donate(id: text, t: text?, b: bytes[n], n: u32, r: f64) -> int = 1 when r >= 0.5
                { identifier = id, title = t, thumbnailData = b, rating = r, domain = "numbers", pageCount = n + 1,
                  keywords = ["a", "b"], contentURL = url(id), contentCreationDate = date(r) },
            p: progress(c: u64, t: u64) { completed = c, total = t }, count: int = \(count)) -> n: int succeeds n == \(count)
        """
    }

    @Test("Items are donated with their attributes, after a deletion of the old ones")
    func donations() async throws {
        #expect(isAcknowledged(try await reindex(Self.items(3))))
        #expect(host.items.keys.sorted() == ["item-1", "item-2"])
        guard host.actions.first == .change(.deleteDomains(["numbers"])) else {
            Issue.record("\(host.actions)")
            return
        }
        let item = try #require(host.items["item-2"])
        #expect(item.domainIdentifier == "numbers")
        #expect(
            item.attributes == [
                "title": .string("even"), "thumbnailData": .data(Array("bytes".utf8)), "rating": .double(1),
                "pageCount": .integer(6), "keywords": .array([.string("a"), .string("b")]),
                "contentURL": .url("file://item-2"), "contentCreationDate": .date(1 - 978_307_200),
            ])
        #expect(host.items["item-1"]?.attributes["title"] == nil)
        #expect(item.expiration == .never)
    }

    @Test("A thousand items are sent in a few batches, and the request is answered when the last is durable")
    func batches() async throws {
        host.holdDonations()
        let loaded = try host.load("serve reindexAll\nLIBRARY\ncall \(Self.items(1000))")
        let number = loaded.session.requests.open { _ in }
        #expect(loaded.bound.reindexAll(number))
        #expect(loaded.session.requests.isPending(number))
        #expect(host.items.count == 999)
        let batches = host.actions.count { if case .put? = $0.change { true } else { false } }
        #expect(batches == 5)
        host.letDonationsGo()
        // Completions run on one of the session's threads. Another request is answered after them.
        try host.hold(nil)
        _ = await loaded.ask { bound, request in
            _ = try? loaded.session.record(of: "x")
            return false
        }
        #expect(!loaded.session.requests.isPending(number))
    }

    @Test("Items donated by eight threads at once all arrive")
    func threads() async throws {
        let call = """
            items_on_threads(i: donate(id: text, t: text, b: pointer, n: u32, r: f64) -> int = 0 { identifier = id, title = t })
            """
        #expect(isAcknowledged(try await reindex(call)))
        #expect(host.items.count == 200)
    }

    @Test("Items without a valid name are reported and left out; the others are kept")
    func badItems() async throws {
        let call = """
            bad_items(i: donate(id: text, t: text, b: pointer?, n: u32, r: f64) -> int = 0 { identifier = id, title = t })
            """
        #expect(isAcknowledged(try await reindex(call)))
        #expect(host.items.keys.sorted() == ["good"])
        #expect(host.misuses == [.invalidArgument, .malformedText, .invalidArgument])
    }

    @Test("Requested items are found among all, and missing ones are deleted")
    func someItems() async throws {
        let loaded = try host.load("serve reindexAll\nLIBRARY\ncall \(Self.items(5))")
        let outcome = await loaded.ask { $0.reindexItems($1, ["item-2", "item-9"]) }
        #expect(isAcknowledged(outcome))
        #expect(host.items.keys.sorted() == ["item-2"])
        #expect(host.actions.contains(.change(.deleteItems(["item-9"]))))
    }

    @Test("Throttling reaches the library")
    func throttle() async throws {
        let loaded = try host.load(
            "serve throttle\nLIBRARY\ncall throttle(r: int = request.reason, s: f64 = request.rate)",
            BindingHost.binding("throttled_at() -> n: f64\ncall double_text(m: f64 = n) -> out: owned(free) text"))
        #expect(loaded.bound.didThrottle(ThrottleNotice(reason: .pressure, itemsPerSecond: 2.5)))
        try host.hold(ItemRecord(uniqueIdentifier: "item"))
        #expect(try await loaded.data() == "\(ThrottleNotice.Reason.pressure.rawValue)002.500")
    }
}
