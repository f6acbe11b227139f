// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("Torture, hostile lists of jobs")
struct JobsFuzzTortureTests {
    private struct Broken: Error { var reason: String }

    @Test("A list of jobs is read or rejected; a read one is unchanged after writing")
    func jobs() throws {
        let folder = try TemporaryFolder()
        let store = JobStore(directory: folder.path)
        try store.update { queue in
            for number in 0..<3 { queue.add(Job(bundle: "com.example.\(number)", work: .reindexAll, requested: 5)) }
        }
        try store.update { $0.fail(bundle: "com.example.1", reason: "it \"failed\"", now: 9) }
        let tokens = ["{", "}", "[", "]", ":", ",", "null", "-1", "1e999", "\"", "9223372036854775808"]
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [try folder.read("jobs.json")], tokens: tokens.map { Array($0.utf8) })
        let accepted = try loop.run(min(MutationLoop.inputs, 20_000)) { bytes in
            try folder.write(bytes, to: "jobs.json")
            let first = JobStore(directory: folder.path)
            guard !first.wasDamaged else {
                guard first.jobs.isEmpty else { throw Broken(reason: "jobs of a damaged file") }
                return false
            }
            try first.update(always: true) { _ in }
            let second = JobStore(directory: folder.path)
            guard !second.wasDamaged, second.jobs == first.jobs else { throw Broken(reason: "others after writing") }
            return true
        }
        #expect(accepted > 0, "seed \(MutationLoop.seed)")
    }
}
