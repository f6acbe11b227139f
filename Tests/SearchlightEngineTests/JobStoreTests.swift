// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("The list of jobs")
struct JobStoreTests {
    /// Files in all earlier formats, kept in `Tests/Fixtures/Jobs`. It must always remain possible
    /// to read each of them.
    private static let kept = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/Jobs").path
    private static let job: Job = {
        var queue = JobQueue()
        queue.add(Job(bundle: "com.example.broken", work: .reindexAll, requested: 816946751.3596168))
        queue.fail(
            bundle: "com.example.broken", reason: "com.example.broken could not be loaded.",
            now: 816946751.3782027)
        return queue.jobs[0]
    }()

    private func keep(_ format: Int, in folder: TemporaryFolder) throws {
        try folder.write(Array(Data(contentsOf: URL(filePath: Self.kept + "/\(format).json"))), to: "jobs.json")
    }

    @Test("A kept file of every format is read, and has the current format after a change", arguments: [1, 2, 3, 4, 5])
    func formats(format: Int) throws {
        let folder = try TemporaryFolder()
        try keep(format, in: folder)
        let store = JobStore(directory: folder.path)
        #expect(!store.wasDamaged && store.knownGeneration == 1)
        #expect(store.jobs == [Self.job])
        #expect(store.donors == (format < 3 ? [] : ["com.example.donor"]))
        try store.note(donor: "com.example.donor")
        try store.update(always: true) { _ in }
        let present = try Data(contentsOf: URL(filePath: Self.kept + "/5.json"))
        #expect(try folder.read("jobs.json") == Array(present))
    }

    @Test("A file of an older format with newer content is invalid", arguments: [1, 2])
    func mixed(format: Int) throws {
        let folder = try TemporaryFolder()
        try keep(format, in: folder)
        let text = String(decoding: try folder.read("jobs.json"), as: UTF8.self)
        let changed = text.replacing("\"formatVersion\"", with: "\"donors\":[\"x\"],\"formatVersion\"")
        try folder.write(Array(changed.utf8), to: "jobs.json")
        #expect(JobStore(directory: folder.path).wasDamaged)
    }

    private static let place = ReindexPlace(
        cursor: Data([0, 1, 255]), pages: 2, began: 816_946_751, replacement: 7, generation: 1, fingerprint: "a")

    @Test("Pending items are read by every process, in any order in memory")
    func items() throws {
        let folder = try TemporaryFolder()
        for power in 6..<14 {
            var names: Set<String> = []
            // The order differs between processes, and between sets of different capacity.
            names.reserveCapacity(1 << power)
            names.formUnion((0..<50).map { "item \($0)" })
            let owed = names
            let store = JobStore(directory: folder.path)
            try store.update(always: true) { queue in
                queue.remove(bundle: "a")
                queue.add(Job(bundle: "a", work: .reindexItems(owed), requested: 1))
            }
            let read = JobStore(directory: folder.path)
            #expect(!read.wasDamaged && read["a"]?.work == .reindexItems(owed))
        }
    }

    @Test("The cursor of a reindex is kept, and removed with the reindex")
    func places() throws {
        let folder = try TemporaryFolder()
        let store = JobStore(directory: folder.path)
        try store.update { queue in
            queue.add(Job(bundle: "a", work: .reindexAll, requested: 1))
            queue.add(Job(bundle: "b", work: .reindexItems(["x"]), requested: 1))
            queue.setPlace(Self.place, of: "a")
            queue.setPlace(Self.place, of: "b")
            queue.setPlace(Self.place, of: "c")
        }
        let read = JobStore(directory: folder.path)
        #expect(read.jobs == store.jobs && !read.wasDamaged)
        #expect(read["a"]?.place == Self.place && read["b"]?.place == nil)
        try read.update { $0.setPlace(nil, of: "a") }
        #expect(JobStore(directory: folder.path)["a"]?.place == nil)
    }

    @Test(
        "An impossible cursor is damage",
        arguments: [
            ("\"pages\":2", "\"pages\":0"), ("\"failures\":0,\"fi", "\"failures\":3,\"fi"), ("AAH/", "AAH+"),
        ])
    func changedPlace(old: String, new: String) throws {
        let folder = try TemporaryFolder()
        try JobStore(directory: folder.path).update { queue in
            queue.add(Job(bundle: "a", work: .reindexAll, requested: 1))
            queue.setPlace(Self.place, of: "a")
        }
        let text = String(decoding: try folder.read("jobs.json"), as: UTF8.self).replacing("\\/", with: "/")
        #expect(text.contains(old), "\(text)")
        try folder.write(Array(text.replacing(old, with: new).utf8), to: "jobs.json")
        #expect(JobStore(directory: folder.path).wasDamaged)
    }

    @Test("A file of an older format has no cursors")
    func placeBeforeItsTime() throws {
        let folder = try TemporaryFolder()
        try keep(1, in: folder)
        let text = String(decoding: try folder.read("jobs.json"), as: UTF8.self)
        let place = String(decoding: try JSONEncoder().encode(Self.place), as: UTF8.self)
        try folder.write(
            Array(text.replacing("\"requested\"", with: "\"place\":\(place),\"requested\"").utf8), to: "jobs.json")
        #expect(JobStore(directory: folder.path).wasDamaged)
    }

    @Test("A changed name is damage", arguments: ["com.example.donos", ""])
    func changedDonor(name: String) throws {
        let folder = try TemporaryFolder()
        try keep(3, in: folder)
        let text = String(decoding: try folder.read("jobs.json"), as: UTF8.self)
        let changed = text.replacing("com.example.donor", with: name)
        try folder.write(Array(changed.utf8), to: "jobs.json")
        #expect(JobStore(directory: folder.path).wasDamaged)
    }

    @Test("Donors are stored once, removed with their jobs, and bounded in number and length")
    func donors() throws {
        let folder = try TemporaryFolder()
        let store = JobStore(directory: folder.path)
        try store.note(donor: "b")
        try store.note(donor: "a")
        let written = try folder.read("jobs.json")
        try store.note(donor: "a")
        #expect(try folder.read("jobs.json") == written)
        try store.note(donor: String(repeating: "x", count: JobDocument.maximumDonorBytes + 1))
        #expect(JobStore(directory: folder.path).donors == ["a", "b"])
        try store.update { $0.add(Job(bundle: "a", work: .reindexAll, requested: 1)) }
        try store.forget("a")
        #expect(JobStore(directory: folder.path).donors == ["b"])
        #expect(store.jobs.isEmpty)

        #expect(store.learn(donors: (0..<20_000).map { "bundle \($0)" }))
        #expect(store.donors.count == JobDocument.maximumDonors)
        try store.note(donor: "one more")
        #expect(!store.isDonor("one more"))
        try store.update(always: true) { _ in }
        #expect(JobStore(directory: folder.path).donors.count == JobDocument.maximumDonors)
        try store.forget("b")
        try store.note(donor: "one more")
        #expect(store.isDonor("one more"))
    }

    @Test("A name that cannot be stored is left out")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        let store = JobStore(directory: folder.path("missing"))
        #expect(throws: EngineError.self) { try store.note(donor: "a") }
        #expect(!store.isDonor("a"))
    }
}
