// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import SearchlightService

@Suite("Mapped code")
struct MappedCodeTests {
    @Test(
        "Only pages that were read from a file are released",
        arguments: [
            ("55d0-55d8 r-xp 00001000 fe:00 42   /usr/bin/searchlightd", 8),
            ("55d0-55d8 r--p 00001000 fe:00 42   /usr/lib/a library.so (deleted)", 8),
            ("55d0-55d8 rw-p 00001000 fe:00 42   /usr/bin/searchlightd", 0),
            ("55d0-55d8 r--s 00001000 fe:00 42   /store/index.sqlite-shm", 0),
            ("55d0-55d8 r-xp 00000000 00:00 0    [vdso]", 0), ("55d0-55d8 r--p 00000000 00:00 0 ", 0),
        ])
    func lines(line: String, count: Int) { #expect(MappedCode.mapping(line[...])?.count == count) }

    @Test(
        "Other lines do not start a mapping",
        arguments: ["Anonymous:             0 kB", "", "VmFlags: rd ex mr", "8-5 r-xp 0 0:0 1 /a"])
    func others(line: String) { #expect(MappedCode.mapping(line[...]) == nil) }

    @Test("Pages that were changed, in memory or swapped out, are unchanged")
    func unchanged() {
        func entry(_ start: Int, _ name: String, anonymous: Int, swap: Int?) -> String {
            """
            \(start)-\(start + 1) r--p 00000000 fe:00 42   \(name)
            Size:                  4 kB
            Anonymous:             \(anonymous) kB
            \(swap.map { "Swap:                  \($0) kB\nSwapPss:               0 kB\n" } ?? "")VmFlags: rd mr

            """
        }
        let text =
            entry(1, "/clean.so", anonymous: 0, swap: 0) + entry(3, "/relocated.so", anonymous: 8, swap: 0)
            + entry(5, "/swapped.so", anonymous: 0, swap: 8) + entry(7, "[heap]", anonymous: 0, swap: 0)
            + entry(10, "/untold.so", anonymous: 0, swap: nil) + entry(20, "/last.so", anonymous: 0, swap: 0)
        #expect(MappedCode.unchanged(text) == [1..<2, 0x20..<0x21])
        #expect(MappedCode.unchanged("") == [])
    }

    @Test("The process continues with its changed pages")
    func goesOn() throws {
        func mapped() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(text.split(separator: " ")[2]))
        }
        let before = try mapped()
        MappedCode.release()
        #expect(try mapped() < before)
        #expect(try JSONDecoder().decode([String: Int].self, from: Data(#"{"a": 1}"#.utf8)) == ["a": 1])
    }
}
