// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchlightEngine
import Synchronization
import Testing

@testable import SearchlightService

@Suite("Flow control of donations", .timeLimit(.minutes(1)))
struct FlowControlTests {
    @Test("Data in flight is bounded and counted, and a connection that ends frees its share")
    func bytes() {
        let control = FlowControl(limit: 100)
        let (one, other) = (FlowControl.Share(of: control), FlowControl.Share(of: control))
        #expect(one.take(60) && !other.take(50) && other.take(40))
        #expect(control.flow == DonationFlow(bytes: 100, donations: 2, rejected: 1))
        other.give(40)
        one.giveAll()
        one.giveAll()
        #expect(control.flow == DonationFlow(bytes: 0, donations: 0, rejected: 1))
        #expect(control.peak == 100)
    }

    @Test("One large donation is kept at a time, the next one is counted as waiting, and small ones pass")
    func large() async {
        let control = FlowControl(limit: 100)
        let large = FlowControl.smallBytes + 1
        let kept = Mutex<[Int]>([])
        await control.resume(large)
        let second = Task { await control.keeping(large) { kept.withLock { $0.append(2) } } }
        #expect(await eventually { control.flow.waiting == ["large": 1] })
        await control.keeping(FlowControl.smallBytes) { kept.withLock { $0.append(1) } }
        control.pause(large)
        await second.value
        #expect(kept.withLock { $0 } == [1, 2])
        #expect(control.flow.waiting.isEmpty)
    }

    @Test("A donation of a command is counted as in flight until it is durable, and rejected beyond the limit")
    func command() async throws {
        var limits = ServiceLimits()
        limits.heldBytes = 4096
        let service = try await TestService(limits: limits)
        let engine = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        func batch(_ bytes: Int) throws -> IndexBatch {
            var record = ItemRecord(uniqueIdentifier: "one")
            record.attributes["title"] = .string(String(repeating: "x", count: bytes))
            var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notes"))
            batch.index([try EncodedItem(record)])
            return batch
        }
        // During a repair, donations wait.
        let repair = try await HeldRepair(service.service.holder)
        async let donated: Void = engine.commit(batch(100))
        #expect(await eventually { service.service.flow.donations == 1 && service.service.flow.bytes > 100 })
        await #expect(throws: EngineError.self) { try await engine.commit(batch(5000)) }
        #expect(service.service.flow.rejected == 1)
        await repair.end()
        try await donated
        #expect(await eventually { service.service.flow.donations == 0 && service.service.flow.bytes == 0 })
        await engine.close()
        await service.stop()
    }
}
