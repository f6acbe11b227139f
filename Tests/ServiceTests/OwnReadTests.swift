// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Glibc
import ItemRecord
import SearchlightEngine
import TestSupport
import Testing

@Suite("Apps that read their donations, in the real program", .timeLimit(.minutes(10)))
struct OwnReadTests {
    private static let bundle = "com.example.bulk"

    /// A text of some MiB, which takes a while to apply. Created only once, because creating it is
    /// slow too, and the tests share few threads.
    private static let text: String = {
        var random = SplitMix64(seed: 1)
        return (0..<300_000).map { _ in "w\(random.below(50_000))" }.joined(separator: " ")
    }()

    private static func batch(_ number: Int) throws -> [UInt8] {
        var batch: [UInt8] = []
        RecordBatch.append(try record("bulk \(number)", attributes: ["textContent": .string(text)]), to: &batch)
        return batch
    }

    private static func put(_ record: ItemRecord, _ app: TestClient) async throws {
        var batch: [UInt8] = []
        RecordBatch.append(try record.encoded(), to: &batch)
        try await app.index(.put(batch))
    }

    @Test(
        "An item that moved to another domain and was read exists after a kill, though other donations were pending"
    )
    func killed() async throws {
        // On a machine with other work, the items may be applied too soon. The test then repeats
        // with more items.
        for count in [10, 20, 40] {
            let program = try await Program(folder: try TemporaryFolder())
            guard try await wasPending(program, count) else {
                program.send(SIGTERM)
                _ = await program.wait()
                continue
            }
            let again = try await Program(folder: program.folder)
            let reader = try await again.app()
            let found = try #require(try await reader.item("m").record)
            #expect(try ItemRecord(decoding: found).domainIdentifier == "D1")
            again.send(SIGTERM)
            #expect(await again.wait() == 0)
            return
        }
        Issue.record("Each kill came too late.")
    }

    /// Donates many items, moves another app's item during that time, and kills the program.
    ///
    /// - Returns: `true` if a donation was pending. Otherwise the program is not killed.
    private func wasPending(_ program: Program, _ count: Int) async throws -> Bool {
        let app = try await program.app()
        let bulk = try await program.app(Self.bundle)
        let shell = try #require(
            try await RemoteEngine.connect(storeDirectory: program.folder.path("store"), program: "test"))
        var item = ItemRecord(
            uniqueIdentifier: "m", domainIdentifier: "D2", attributes: ["title": .string("kept")])
        try await Self.put(item, app)
        #expect(try await app.item("m").record != nil)
        let batches = try (0..<count).map { try Self.batch($0) }
        for batch in batches { try await bulk.index(.put(batch)) }
        try await app.index(.deleteDomains(["D1"]))
        item = ItemRecord(uniqueIdentifier: "m", domainIdentifier: "D1", isUpdate: true, attributes: [:])
        try await Self.put(item, app)
        #expect(try await app.item("m").record != nil)
        guard try await shell.perform(PendingCall()).bundles[Self.bundle] != nil else { return false }
        program.send(SIGKILL)
        #expect(await program.wait() == 128 + SIGKILL)
        return true
    }
}
