// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("Files that extensions leave out")
struct OmissionStoreTests {
    private let folder: TemporaryFolder
    private let bundle = "org.example.files"

    init() throws { folder = try TemporaryFolder() }

    private func store(isWritable: Bool = true) -> OmissionStore {
        OmissionStore(directory: folder.path, isWritable: isWritable)
    }

    private func say(_ names: String..., reason: String, to store: OmissionStore) {
        for name in names { store.take(.leftOut(bundle: bundle, LeftOut(name: name, reason: reason))) }
    }

    private func counts(_ store: OmissionStore) -> [String: Int] {
        Dictionary(
            (store.bundles[bundle]?.summary ?? []).map { ($0.reason, $0.count) }, uniquingKeysWith: { one, _ in one })
    }

    @Test(
        "A report counts once its request has succeeded, for the request's items, and is read by the next process")
    func scopes() throws {
        let store = store()
        store.begin(bundle)
        say("a", "b", "c", reason: "locked", to: store)
        #expect(counts(store).isEmpty)
        store.settle(bundle, .everything)
        #expect(counts(store) == ["locked": 3])
        store.begin(bundle)
        say("b", reason: "too large", to: store)
        store.settle(bundle, .names(["a", "b"]))
        #expect(counts(store) == ["locked": 1, "too large": 1])
        store.begin(bundle)
        say("d", reason: "locked", to: store)
        store.settle(bundle, .rest)
        #expect(counts(self.store(isWritable: false)) == ["locked": 2, "too large": 1])
        // A new request starts without the reports of an earlier request that failed.
        store.begin(bundle)
        say("e", reason: "locked", to: store)
        store.begin(bundle)
        store.settle(bundle, .everything)
        #expect(self.store().bundles.isEmpty)
    }

    @Test("A process that only reads writes nothing")
    func readOnly() throws {
        let store = store(isWritable: false)
        say("a", reason: "locked", to: store)
        store.settle(bundle, .everything)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/" + OmissionStore.fileName))
    }

    @Test("Names beyond the bound are counted by reason, and reasons beyond theirs as others")
    func bounds() throws {
        let store = store()
        for number in 0..<Omissions.maximumNames + 50 { say("\(number)", reason: "locked", to: store) }
        for number in 0..<Omissions.maximumReasons + 5 { say("x\(number)", reason: "reason \(number)", to: store) }
        store.settle(bundle, .everything)
        let summary = try #require(store.bundles[bundle]?.summary)
        #expect(summary.first?.reason == "locked" && summary.first?.count == Omissions.maximumNames + 50)
        #expect(summary.first?.examples.count == BundleAccount.maximumExamples)
        #expect(summary.count == Omissions.maximumReasons + 1)
        #expect(summary.reduce(0) { $0 + $1.count } == Omissions.maximumNames + Omissions.maximumReasons + 55)
        #expect(self.store().bundles == store.bundles)
    }

    @Test("An unnamed omission keeps its reason in later requests, and a repetition counts nothing twice")
    func unnamed() throws {
        let store = store()
        for number in 0..<Omissions.maximumNames + 3 { say("\(number)", reason: "locked", to: store) }
        // The worker is lost; the next worker reports everything again.
        store.take(.retrying(bundle: bundle, after: .cancelled))
        for number in 0..<Omissions.maximumNames + 3 { say("\(number)", reason: "locked", to: store) }
        store.settle(bundle, .everything)
        #expect(counts(store) == ["locked": Omissions.maximumNames + 3])
        store.begin(bundle)
        for number in 0..<Omissions.maximumNames + 3 { say("x\(number)", reason: "too large", to: store) }
        store.settle(bundle, .rest)
        #expect(
            counts(store) == ["locked": Omissions.maximumNames + 3, "too large": Omissions.maximumNames + 3],
            "\(counts(store))")
    }

    @Test("A file whose name cannot be kept is not counted by a request that may be repeated")
    func repeatedRequests() throws {
        let store = store()
        for number in 0..<Omissions.maximumNames { say("\(number)", reason: "locked", to: store) }
        store.settle(bundle, .everything)
        for _ in 0..<3 {
            store.begin(bundle)
            say("late", reason: "locked", to: store)
            store.settle(bundle, .names(["late"]))
        }
        #expect(counts(store) == ["locked": Omissions.maximumNames])
    }

    @Test("The names of a bundle have a bound in bytes, so that the file of all bundles has one")
    func bytes() throws {
        let store = store()
        for number in 0..<100 {
            say(String(repeating: "\u{1}", count: 4000) + "\(number)", reason: "odd", to: store)
        }
        store.settle(bundle, .everything)
        #expect(counts(store) == ["odd": 100])
        #expect(try folder.read(OmissionStore.fileName).count < Omissions.maximumBytes + 1000)
        #expect(self.store().bundles == store.bundles)
    }

    @Test("The file is read when it is first needed")
    func lateReading() throws {
        let late = store(isWritable: false)
        let store = store()
        say("a", reason: "locked", to: store)
        store.settle(bundle, .everything)
        #expect(counts(late) == ["locked": 1])
    }

    @Test("A changed file is ignored", arguments: ["", "{}", "[", #"{"bundles":{},"checksum":1}"#])
    func damage(text: String) throws {
        try folder.write(Array(text.utf8), to: OmissionStore.fileName)
        let store = store()
        #expect(store.bundles.isEmpty)
        say("a", reason: "locked", to: store)
        store.settle(bundle, .everything)
        #expect(counts(self.store()) == ["locked": 1])
    }

    @Test("A text that is too long is truncated between characters")
    func longTexts() {
        let long = LeftOut(name: String(repeating: "ø", count: 3000), reason: String(repeating: "a", count: 201))
        #expect(long.name.utf8.count == 4096 && long.reason.utf8.count == 200)
        let odd = LeftOut(name: "a" + String(repeating: "ø", count: 3000), reason: "r")
        #expect(odd.name.utf8.count == 4095 && odd.name.last == "ø")
    }
}
