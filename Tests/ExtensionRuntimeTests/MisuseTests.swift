// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchlightExtension
import ServiceMessages
import Testing

@testable import ExtensionRuntime

/// Misuse by an extension is rejected and reported, and does not affect other extensions.
@Suite("Misuse of the host's functions")
struct MisuseTests {
    private func items(_ fake: FakeHost) throws -> searchlight_host_items {
        try fake.interface(SEARCHLIGHT_HOST_ITEMS)
    }

    @Test("Answers twice, after the end, or to an unknown request")
    func answeredTwice() throws {
        let fake = FakeHost()
        let requests: searchlight_host_request = try fake.interface(SEARCHLIGHT_HOST_REQUEST)
        let (request, answers) = fake.open()
        requests.finish(fake.host, request, SEARCHLIGHT_OK, nil)
        requests.finish(fake.host, request, SEARCHLIGHT_FAILED, "late")
        requests.finish_with_data(fake.host, 4711, "x", 1)
        #expect(answers.count == 1)
        #expect(fake.link.misuses == [.answeredTwice, .answeredTwice])
        requests.finish(nil, request, SEARCHLIGHT_OK, nil)
    }

    @Test("Each rule is reported a few times, then at intervals")
    func rateLimit() {
        let fake = FakeHost()
        for _ in 0..<1000 { fake.session.finish(1, .acknowledged) }
        #expect(fake.link.posts.count == 8 + 6, "each of eight; then the 16th, 32nd, 64th, 128th, 256th and 512th")
        guard case .misuse(.answeredTwice, let message)? = fake.link.posts.last else {
            Issue.record("\(fake.link.posts)")
            return
        }
        #expect(message.hasSuffix("(for the 512th time)"))
        fake.session.misuse(.malformedText, "another rule")
        #expect(fake.link.misuses.last == .malformedText)
    }

    @Test("A released or invalid item or batch, or one of the other kind")
    func handles() throws {
        let fake = FakeHost()
        let items = try items(fake)
        let batches: searchlight_host_batch = try fake.interface(SEARCHLIGHT_HOST_BATCH)
        let keys: searchlight_host_custom_keys = try fake.interface(SEARCHLIGHT_HOST_CUSTOM_KEYS)
        let index: searchlight_host_index = try fake.interface(SEARCHLIGHT_HOST_INDEX)
        let item = items.create(fake.host, "one", nil, nil)
        let batch = batches.create(fake.host)
        #expect(items.set_integer(item, "pageCount", 1) == SEARCHLIGHT_OK)
        #expect(items.set_string(batch, "title", "x") == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(batches.delete_all(item) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(items.set_string(nil, "title", "x") == SEARCHLIGHT_INVALID_ARGUMENT)
        // Reported to the host that started last, because an invalid pointer identifies no host.
        let told = fake.link.misuses.count
        items.release(item)
        items.release(item)
        items.release(nil)
        #expect(items.set_string(item, "title", "x") == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(keys.set_traits(item, "com_example_x", 1) == SEARCHLIGHT_INVALID_ARGUMENT)
        var list = [item]
        #expect(index.index_items(fake.host, nil, &list, 1, nil, nil) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(batches.index_items(batch, &list, 1) == SEARCHLIGHT_INVALID_ARGUMENT)
        batches.release(batch)
        #expect(batches.delete_all(batch) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(
            batches.commit(fake.host, nil, batch, nil, 0, SEARCHLIGHT_EXPECT_ANY, nil, 0, nil, nil)
                == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(
            fake.link.misuses.dropFirst(told).filter { $0 == .usedAfterRelease }
                == Array(
                    repeating: .usedAfterRelease, count: 7))
        #expect(fake.link.requests.isEmpty)
    }

    @Test("Impossible renames are rejected and reported, and valid ones are one request")
    func renames() throws {
        let fake = FakeHost()
        let table: searchlight_host_rename = try fake.interface(SEARCHLIGHT_HOST_RENAME)
        let batches: searchlight_host_batch = try fake.interface(SEARCHLIGHT_HOST_BATCH)
        let batch = batches.create(fake.host)
        func rename(_ old: [String], _ new: [String], inBatch: Bool = false) -> Int32 {
            let texts = (old + new).map { strdup($0) }
            defer { for text in texts { free(text) } }
            let pointers = texts.map { UnsafePointer($0) }
            return pointers.withUnsafeBufferPointer { list in
                let second = list.baseAddress.map { $0 + old.count }
                return inBatch
                    ? table.rename_in_batch(batch, list.baseAddress, second, old.count)
                    : table.rename_items(fake.host, "named", list.baseAddress, second, old.count, nil, nil)
            }
        }
        for inBatch in [false, true] {
            for (old, new) in [
                (["a"], [""]), (["a"], [String(repeating: "x", count: 4097)]), (["a", "b"], ["c", "c"]),
                (["a", "a"], ["b", "c"]),
            ] {
                #expect(rename(old, new, inBatch: inBatch) == SEARCHLIGHT_INVALID_ARGUMENT)
            }
        }
        #expect(fake.link.misuses == Array(repeating: .invalidArgument, count: 8))
        #expect(table.rename_items(fake.host, nil, nil, nil, 1, nil, nil) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(table.rename_items(fake.host, nil, nil, nil, 1 << 20, nil, nil) == SEARCHLIGHT_TOO_LARGE)
        #expect(table.rename_in_batch(nil, nil, nil, 0) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(fake.link.requests.isEmpty)
        #expect(rename(["a", "b"], ["b", "a"], inBatch: true) == SEARCHLIGHT_OK)
        #expect(rename(["a", "b"], ["b", "a"]) == SEARCHLIGHT_OK)
        _ = batches.commit(fake.host, "named", batch, nil, 0, SEARCHLIGHT_EXPECT_ANY, nil, 0, nil, nil)
        let change = EncodedChange.renameItems([ItemRename("a", to: "b"), ItemRename("b", to: "a")])
        let batched = IndexBatch(
            scope: IndexScope(bundle: "", index: "named"), changes: ChangeList([change]), clientState: [])
        #expect(
            fake.link.requests == [.index(IndexRequest(change, index: "named")), .index(.commit(batched))])
        batches.release(batch)
    }

    @Test("Donations to an index with a class carry it, and other names and classes are rejected")
    func classes() throws {
        let fake = FakeHost()
        let table: searchlight_host_protection = try fake.interface(SEARCHLIGHT_HOST_PROTECTION)
        let index: searchlight_host_index = try fake.interface(SEARCHLIGHT_HOST_INDEX)
        #expect(table.set_class(fake.host, nil, SEARCHLIGHT_CLASS_COMPLETE) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(table.set_class(fake.host, "", SEARCHLIGHT_CLASS_COMPLETE) == SEARCHLIGHT_INVALID_ARGUMENT)
        for number in [-1, 3, Int32.max] as [Int32] {
            #expect(table.set_class(fake.host, "a", number) == SEARCHLIGHT_INVALID_ARGUMENT)
        }
        for (number, protection) in [
            (SEARCHLIGHT_CLASS_COMPLETE, .complete), (SEARCHLIGHT_CLASS_COMPLETE_UNLESS_OPEN, .completeUnlessOpen),
            (SEARCHLIGHT_CLASS_NONE, nil),
        ] as [(Int32, ProtectionClass?)] {
            #expect(table.set_class(fake.host, "health", number) == SEARCHLIGHT_OK)
            #expect(index.delete_all(fake.host, "health", nil, nil) == SEARCHLIGHT_OK)
            #expect(index.delete_all(fake.host, nil, nil, nil) == SEARCHLIGHT_OK)
            #expect(
                fake.link.requests.suffix(2) == [
                    .index(IndexRequest(.deleteAll, index: "health", protection: protection)),
                    .index(IndexRequest(.deleteAll, index: nil)),
                ])
        }
        for number in 0..<SEARCHLIGHT_PROTECTED_MAX {
            #expect(table.set_class(fake.host, "index\(number)", SEARCHLIGHT_CLASS_COMPLETE) == SEARCHLIGHT_OK)
        }
        #expect(table.set_class(fake.host, "more", SEARCHLIGHT_CLASS_COMPLETE) == SEARCHLIGHT_TOO_LARGE)
        #expect(table.set_class(fake.host, "index1", SEARCHLIGHT_CLASS_COMPLETE) == SEARCHLIGHT_OK)
    }

    @Test("A name of an index has at most 4,096 bytes in every function, and other bounds have the same status")
    func bounds() throws {
        let fake = FakeHost()
        let host = fake.host
        let index: searchlight_host_index = try fake.interface(SEARCHLIGHT_HOST_INDEX)
        let batches: searchlight_host_batch = try fake.interface(SEARCHLIGHT_HOST_BATCH)
        let renames: searchlight_host_rename = try fake.interface(SEARCHLIGHT_HOST_RENAME)
        let listing: searchlight_host_listing = try fake.interface(SEARCHLIGHT_HOST_LISTING)
        let protection: searchlight_host_protection = try fake.interface(SEARCHLIGHT_HOST_PROTECTION)
        let batch = batches.create(host)
        #expect(batches.delete_all(batch) == SEARCHLIGHT_OK)
        let record = try ItemRecord(uniqueIdentifier: "one").encoded()
        var records: [UInt8] = []
        RecordBatch.append(record, to: &records)
        let state = [UInt8](repeating: 7, count: 251)
        let (any, expected) = (SEARCHLIGHT_EXPECT_ANY, SEARCHLIGHT_EXPECT_STATE)
        func statuses(_ name: String) -> [Int32] {
            [
                index.index_items(host, name, nil, 0, nil, nil),
                index.index_records(host, name, records, records.count, nil, nil),
                index.delete_items(host, name, nil, 0, nil, nil), index.delete_domains(host, name, nil, 0, nil, nil),
                index.delete_all(host, name, nil, nil),
                batches.commit(host, name, batch, nil, 0, any, nil, 0, nil, nil),
                batches.commit_changes(host, name, nil, 0, nil, 0, any, nil, 0, nil, nil),
                batches.read_state(host, name, { _, _, _, _, _ in }, nil),
                renames.rename_items(host, name, nil, nil, 0, nil, nil),
                listing.list_items(host, name, nil, SEARCHLIGHT_LISTING_MAX, { _, _, _, _, _ in }, nil),
                protection.set_class(host, name, SEARCHLIGHT_CLASS_COMPLETE),
            ]
        }
        #expect(statuses(String(repeating: "x", count: 4096)).allSatisfy { $0 == SEARCHLIGHT_OK })
        let sent = fake.link.requests.count
        #expect(sent == 10)
        for name in [String(repeating: "x", count: 4097), String(repeating: "é", count: 20 << 20)] {
            #expect(statuses(name).allSatisfy { $0 == SEARCHLIGHT_TOO_LARGE })
        }
        #expect(
            listing.list_items(host, nil, nil, SEARCHLIGHT_LISTING_MAX + 1, { _, _, _, _, _ in }, nil)
                == SEARCHLIGHT_TOO_LARGE)
        for (length, status) in [
            (250, SEARCHLIGHT_OK), (251, SEARCHLIGHT_TOO_LARGE), (-1, SEARCHLIGHT_INVALID_ARGUMENT),
        ] {
            #expect(batches.commit(host, "a", batch, state, length, any, nil, 0, nil, nil) == status)
            #expect(batches.commit(host, "a", batch, nil, 0, expected, state, length, nil, nil) == status)
            #expect(batches.commit_changes(host, "a", nil, 0, state, length, any, nil, 0, nil, nil) == status)
            #expect(batches.commit_changes(host, "a", nil, 0, nil, 0, expected, state, length, nil, nil) == status)
        }
        #expect(fake.link.requests.count == sent + 4)
        batches.release(batch)
    }

    @Test("An item that another thread is using")
    func twoThreads() throws {
        let fake = FakeHost()
        let items = try items(fake)
        let item = items.create(fake.host, "one", nil, nil)
        try ItemBuilder.all.with(item) { _ in
            #expect(items.set_integer(item, "pageCount", 1) == SEARCHLIGHT_INVALID_ARGUMENT)
            items.release(item)
        }
        #expect(fake.link.misuses == [.wrongThread, .wrongThread])
        #expect(items.set_integer(item, "pageCount", 1) == SEARCHLIGHT_OK)
        items.release(item)
    }

    @Test("Text that is not UTF-8, or NULL")
    func texts() throws {
        let fake = FakeHost()
        let items = try items(fake)
        let index: searchlight_host_index = try fake.interface(SEARCHLIGHT_HOST_INDEX)
        let bad: [CChar] = [-1, -2, 0]
        #expect(items.create(fake.host, bad, nil, nil) == nil)
        #expect(items.create(fake.host, "one", bad, nil) == nil)
        #expect(items.create(fake.host, "one", nil, bad) == nil)
        #expect(items.create(fake.host, "", nil, nil) == nil)
        #expect(items.create(fake.host, nil, nil, nil) == nil)
        let item = items.create(fake.host, "one", nil, nil)
        #expect(items.set_string(item, "title", bad) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(items.set_string(item, bad, "x") == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(items.set_string(item, "title", nil) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(items.set_strings(item, "keywords", nil, 2) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(items.set_data(item, "thumbnailData", nil, 5) == SEARCHLIGHT_INVALID_ARGUMENT)
        #expect(index.delete_all(fake.host, bad, nil, nil) == SEARCHLIGHT_INVALID_ARGUMENT, "not the default index")
        items.release(item)
        #expect(
            fake.link.misuses == [
                .malformedText, .malformedText, .malformedText, .invalidArgument, .invalidArgument, .malformedText,
                .malformedText, .invalidArgument, .invalidArgument, .invalidArgument, .malformedText,
            ])
        #expect(fake.link.requests.isEmpty)
    }

    @Test("A message that is not UTF-8 arrives with the rest of the message, and a long one in part")
    func messages() throws {
        let fake = FakeHost()
        let requests: searchlight_host_request = try fake.interface(SEARCHLIGHT_HOST_REQUEST)
        let (request, answers) = fake.open()
        let reason = Array("no \u{FF}".utf8CString.prefix(3)) + [-1, 0]
        requests.finish(fake.host, request, SEARCHLIGHT_REFUSED, reason)
        #expect(answers.failure?.status == .refused && answers.failure?.message == "no \u{FFFD}")
        #expect(fake.link.misuses == [.malformedText])
        let (long, longAnswers) = fake.open()
        requests.finish(fake.host, long, 4711, String(repeating: "ä", count: maximumMessageBytes))
        #expect(longAnswers.failure?.status == .failed)
        #expect(longAnswers.failure?.message.utf8.count == maximumMessageBytes)
        #expect(fake.link.misuses.count == 1)
    }

    @Test("The end of a page is a cursor or nothing")
    func pages() throws {
        let fake = FakeHost()
        let requests: searchlight_host_request = try fake.interface(SEARCHLIGHT_HOST_REQUEST)
        func end(_ cursor: UnsafeRawPointer?, _ length: Int) -> RequestOutcome? {
            let (request, answers) = fake.open()
            requests.finish_page(fake.host, request, cursor, length)
            return answers.last
        }
        let bytes = [UInt8](repeating: 7, count: 4097)
        guard case .page(next: nil)? = end(nil, 0), case .page(next: [])? = end(bytes, 0),
            case .page(let full?)? = end(bytes, 4096)
        else {
            Issue.record("a cursor was refused")
            return
        }
        #expect(full == Array(bytes.dropLast()))
        #expect(fake.link.misuses.isEmpty)
        for outcome in [end(bytes, 4097), end(nil, 1), end(bytes, -1)] {
            guard case .failed(.invalidArgument, _)? = outcome else {
                Issue.record("\(String(describing: outcome))")
                continue
            }
        }
        #expect(fake.link.misuses == [.invalidArgument, .invalidArgument, .invalidArgument])
    }

    @Test("More names than a message carries")
    func tooManyNames() throws {
        let fake = FakeHost()
        let index: searchlight_host_index = try fake.interface(SEARCHLIGHT_HOST_INDEX)
        let long = [CChar](repeating: 97, count: 4096) + [0]
        let count = 31 << 8
        long.withUnsafeBufferPointer { long in
            var names = [UnsafePointer<CChar>?](repeating: long.baseAddress, count: count)
            #expect(index.delete_items(fake.host, nil, &names, count, nil, nil) == SEARCHLIGHT_OK)
            names += names
            #expect(index.delete_items(fake.host, nil, &names, 2 * count, nil, nil) == SEARCHLIGHT_TOO_LARGE)
            #expect(index.delete_domains(fake.host, nil, &names, 2 * count, nil, nil) == SEARCHLIGHT_TOO_LARGE)
        }
        #expect(fake.link.requests.count == 1)
    }
}
