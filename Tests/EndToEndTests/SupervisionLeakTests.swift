// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("A host whose extension keeps failing", .timeLimit(.minutes(10)))
struct SupervisionLeakTests {
    @Test("has no more descriptors, threads and processes than before")
    func leaks() throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("by-name")
        // Runs in a separate process: in this one the resources of other tests could not be
        // distinguished.
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("TortureDonor"),
            [
                "supervision", harness.folder, harness.extensions, try BuiltProducts.program("searchlight-worker"),
                bundle, "50",
            ])
        #expect(status == 0, "\(output)")
        #expect(output.contains("after 50 rounds"))
    }
}
