// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ItemRecord

@Suite("Torture, hostile records")
struct RecordFuzzTortureTests {
    private struct Broken: Error {}

    @Test("Decoded records can be encoded, and are unchanged")
    func records() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let corpus = try (0..<50).map { _ in try ItemRecordTests.randomRecord(&random).encoded() }
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: corpus, tokens: (0...13).map { [UInt8($0)] } + [[1, 0, 1, 0x61]])
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            guard let record = try? ItemRecord(decoding: bytes) else { return false }
            let encoded = try record.encoded()
            // NaN is not equal to itself, so the encodings are compared.
            guard try ItemRecord(decoding: encoded).encoded() == encoded else { throw Broken() }
            return true
        }
        #expect(accepted > MutationLoop.inputs / 50, "seed \(MutationLoop.seed)")
    }

    @Test("A batch is divided into records or rejected")
    func batches() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let corpus = try (0..<20).map { _ in
            var batch: [UInt8] = []
            for _ in 0..<3 { RecordBatch.append(try ItemRecordTests.randomRecord(&random).encoded(), to: &batch) }
            return batch
        }
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus)
        _ = try loop.run(MutationLoop.inputs) { bytes in
            guard let records = try? RecordBatch.split(bytes) else { return false }
            var joined: [UInt8] = []
            for record in records { RecordBatch.append(Array(record), to: &joined) }
            guard joined == bytes else { throw Broken() }
            return true
        }
    }
}
