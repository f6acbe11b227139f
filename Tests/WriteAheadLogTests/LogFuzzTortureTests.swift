// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import WriteAheadLog

@Suite("Torture, hostile log entries")
struct LogFuzzTortureTests {
    private struct Broken: Error {}

    @Test("Any decoded entry encodes to the same bytes")
    func entries() throws {
        var full = LogTest.entry(1, state: "state")
        for change in LogTest.deletions { full.batch.changes.append(change) }
        let plain = LogEntry(IndexBatch(scope: IndexScope(bundle: "b")))
        var loop = MutationLoop(
            seed: MutationLoop.seed,
            corpus: [try full.encoded(), try plain.encoded(), try LogTest.entry(2).encoded()],
            tokens: [[1, 0, 0, 0], [2, 0, 0, 0, 0], [3, 1, 0, 0, 0, 0, 0, 0, 0], [4], [0, 0, 16, 0]])
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            guard let entry = try? LogEntry(decoding: bytes) else { return false }
            // Version 1 entries are written as version 2.
            guard try bytes[0] == 1 || entry.encoded() == bytes else { throw Broken() }
            return true
        }
        #expect(accepted > MutationLoop.inputs / 50, "seed \(MutationLoop.seed)")
    }
}
