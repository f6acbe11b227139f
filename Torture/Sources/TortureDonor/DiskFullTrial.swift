// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchIndex
import SearchlightEngine
import TortureSupport

/// Fills a store's file system, donates to it, frees space, and reports each incorrect state.
struct DiskFullTrial {
    /// A violation.
    struct Failure: Error { var reason: String }

    private let folder: String
    private let seed: UInt64
    private let extensions: String
    private let identifier: String
    private var model: TortureModel
    private var store: String { folder + "/store" }
    private var ballast: String { folder + "/ballast" }

    /// - Parameters:
    ///   - folder: A folder on its own file system of a few megabytes.
    ///   - extensions: A folder with an extension, and the extension's identifier.
    init(folder: String, seed: UInt64, extensions: (folder: String, identifier: String)) {
        (self.extensions, identifier) = extensions
        self.folder = folder
        self.seed = seed
        model = TortureModel(scope: 0, seed: seed)
    }

    mutating func run() async throws {
        let index = try open()
        try await donate(20, to: index)
        try await compare(index, "with room")
        for room in [400 << 10, 100 << 10, 20 << 10, 0] {
            try fill(leaving: room)
            let message = try await donateUntilFull(index)
            try require(message.contains("is full. Make room."), message)
            try await compare(index, "full with \(room) bytes left", allowingUnapplied: true)
            try removeBallast()
            try await donate(10, to: index)
            try await compare(index, "with room again after \(room) bytes")
        }
        try await jobs()
        // The remaining entries may or may not be applied when the index closes without free space.
        // In both cases the next opening finds them.
        try fill(leaving: 50 << 10)
        _ = try await donateUntilFull(index)
        try? await index.close()
        index.abandon()
        try await openings()
        try removeBallast()
        let later = try open()
        try await compare(later, "opened again")
        try await later.close()
    }

    /// Checks that opening a store without free space succeeds or reports the lack of space.
    private func openings() async throws {
        for room in [60 << 10, 8 << 10, 0] {
            try removeBallast()
            try fill(leaving: room)
            for access in [SearchIndex.Access.readWrite, .readOnly] {
                do {
                    let index = try SearchIndex(directory: store, access: access) { TortureBatch.now }
                    _ = try await index.items(containing: TortureBatch.commonWord)
                    try? await index.close()
                    index.abandon()
                } catch let error as SearchIndexError {
                    guard case .full = error else { throw Failure(reason: "\(access), \(room): \(error)") }
                }
            }
        }
    }

    /// Checks that the job list stays unchanged and that the error states the reason.
    private func jobs() async throws {
        let engine = try SearchlightEngine(
            EngineConfiguration(
                storeDirectory: folder + "/second", access: .readWrite, extensionSearchPath: [extensions],
                worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:])))
        try fill(leaving: 0)
        do {
            _ = try await engine.reindexAll(identifier)
            throw Failure(reason: "a job was written where there is no room")
        } catch EngineError.storeFile(_, _, let detail) {
            try require(detail.lowercased().contains("no space left"), "the jobs: \(detail)")
        }
        try require(engine.owedJobs.isEmpty, "a job that could not be written is pending")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/second")
        try require(!names.contains("jobs.json.new"), "half a list of jobs is left")
        try removeBallast()
        // No worker can run the extension, so the job is now pending.
        _ = try? await engine.reindexAll(identifier)
        try require(engine.owedJobs.count == 1, "with room again the job is not written")
        await engine.close()
        print("jobs: refused without room, written with room")
    }

    private func open() throws -> SearchIndex {
        try SearchIndex(directory: store, access: .readWrite) { TortureBatch.now }
    }

    private mutating func donate(_ count: Int, to index: SearchIndex) async throws {
        for number in (model.batch + 1)...(model.batch + count) {
            let batch = TortureBatch(number, scope: 0, seed: seed)
            try await index.commit(batch.donation().with(clientState: batch.clientState))
            model.advance(to: number)
        }
    }

    private mutating func donateUntilFull(_ index: SearchIndex) async throws -> String {
        for _ in 0..<2000 {
            do {
                try await donate(1, to: index)
            } catch let error as SearchIndexError {
                guard case .full = error else { throw Failure(reason: "refused with \(error)") }
                return "\(error)"
            }
        }
        throw Failure(reason: "the file system was never full")
    }

    private func compare(_ index: SearchIndex, _ note: String, allowingUnapplied: Bool = false) async throws {
        let hits = try await index.items(containing: TortureBatch.commonWord).map(\.record)
        do {
            let state = try await index.clientState(of: TortureBatch.scopes[0])
            try require(state == Array("\(model.batch)".utf8), "\(note): the state is another one")
        } catch let error as SearchIndexError {
            guard allowingUnapplied, case .full = error else { throw error }
            // Some durable batches wait for space, so a search sees the state after an earlier
            // batch.
            var earlier = TortureModel(scope: 0, seed: seed)
            while earlier.batch <= model.batch {
                if hits.count == earlier.items.count, hits.allSatisfy({ earlier.items[$0.uniqueIdentifier] == $0 }) {
                    return print("\(note): \(hits.count) items, as after batch \(earlier.batch) of \(model.batch)")
                }
                earlier.advance(to: earlier.batch + 1)
            }
            throw Failure(reason: "\(note): \(hits.count) items, which is as after no batch")
        }
        try require(
            hits.count == model.items.count && hits.allSatisfy { model.items[$0.uniqueIdentifier] == $0 },
            "\(note): \(hits.count) items, \(model.items.count) expected")
        print("\(note): \(hits.count) items after batch \(model.batch)")
    }

    private func require(_ condition: Bool, _ reason: String) throws {
        if !condition { throw Failure(reason: reason) }
    }

    // MARK: - The file system

    private func fill(leaving room: Int) throws {
        let number = Glibc.open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(number) }
        var status = statvfs()
        try require(number >= 0 && statvfs(folder, &status) == 0, "the ballast cannot be made")
        let page = [UInt8](repeating: 1, count: 4096)
        while statvfs(folder, &status) == 0, Int(status.f_bavail * status.f_frsize) >= room + page.count {
            guard write(number, page, page.count) > 0 else { break }
        }
    }

    private func removeBallast() throws {
        try require(unlink(ballast) == 0 || errno == ENOENT, "the ballast cannot be removed")
    }
}
