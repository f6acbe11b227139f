// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite("Contention for processors")
struct ProcessorContentionTests {
    @Test(
        "is found if more threads can run than there are processors, and assumed if the kernel does not report it",
        arguments: [
            ("0.52 0.58 0.59 3/467 12345\n", true), ("0.52 0.58 0.59 2/467 12345\n", false),
            ("9.00 9.00 9.00 1/467 12345\n", false), ("0.52 0.58\n", true), ("0.52 0.58 0.59 many/467 1\n", true),
            ("", true), (nil, true),
        ])
    func contention(told: String?, isPresent: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/loadavg"
        try told?.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(ProcessorContention(path: path, processors: 2).isPresent == isPresent)
    }

    @Test("reads the kernel's file")
    func kernel() {
        #expect(ProcessorContention(processors: 0).isPresent)
        #expect(!ProcessorContention(processors: .max).isPresent)
    }
}
