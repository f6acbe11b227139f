// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The workers of a host", .timeLimit(.minutes(1)))
struct WorkerPoolTests {
    /// Nobody donates here: there is no program to start.
    private struct NoReceiver: DonationReceiver {
        func receive(_ donation: Donation, from bundle: String) async throws(DonationRefusal) {}
        func clientState(of index: String?, bundle: String) async throws(DonationRefusal) -> [UInt8]? { nil }
        func record(of identifier: String, bundle: String) async throws(DonationRefusal) -> RecordReply {
            RecordReply(record: nil)
        }
    }

    @Test("One that was started with what a bundle was before is used by nobody who knows what it is now")
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let old = try ExtensionBundle(at: try PlainBundle("com.example.x", in: folder.path).path)
        let new = try ExtensionBundle(at: try PlainBundle("com.example.x", in: folder.path, version: "2").path)
        let pool = WorkerPool(
            WorkerConfiguration(workerPath: folder.path + "/none", frameworkFolder: nil, environment: [:]),
            receiver: NoReceiver(), onEvent: { _ in }, onWork: { () }, onFailure: { _, _ in })
        let first = try await pool.lease(old, .person)
        let second = try await pool.lease(new, .person)
        #expect(first.number != second.number)
        #expect(await pool.count == 2)
        await pool.giveBack(first, isUsable: true)
        #expect(await pool.count == 1)
        let third = try await pool.lease(new, .person)
        #expect(third.number == second.number)
        await pool.shutdown()
        #expect(await pool.count == 0)
    }
}
