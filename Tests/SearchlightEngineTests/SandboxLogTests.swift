// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("The file of denied attempts")
struct SandboxLogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func tried(_ detail: String) -> ExtensionEvent {
        .refusal(bundle: "com.example.a", SandboxRefusal(.kernel, detail))
    }

    private func details(_ log: SandboxLog) -> [String] {
        log.history().bundles["com.example.a"]?.refusals.map(\.refusal.detail) ?? []
    }

    @Test("A reader finds it complete while another process writes")
    func readWhileWritten() throws {
        let (first, second) = (SandboxLog(directory: folder.path) { 1 }, SandboxLog(directory: folder.path) { 2 })
        first.take(tried("bpf"))
        let whole = try folder.read("sandbox.json")
        // Reads slowly.
        let reader = try #require(FileHandle(forReadingAtPath: folder.path("sandbox.json")))
        second.take(tried("keyctl"))
        #expect(try reader.readToEnd().map(Array.init) == whole)
        #expect(details(first) == ["bpf", "keyctl"] && details(second) == ["bpf", "keyctl"])
        #expect(try folder.names == ["sandbox.json"])
    }

    @Test("Attempts during another process's lock are shown, and written with the next ones")
    func locked() throws {
        let log = SandboxLog(directory: folder.path) { 1 }
        log.take(tried("bpf"))
        let other = open(folder.path("sandbox.json"), O_RDWR | O_CLOEXEC)
        try #require(other >= 0 && flock(other, LOCK_EX) == 0)
        log.take(tried("keyctl"))
        #expect(details(log) == ["bpf", "keyctl"])
        #expect(details(SandboxLog(directory: folder.path) { 1 }) == ["bpf"])
        // Closing the file is not enough: a process that another test starts at this moment shares
        // it.
        flock(other, LOCK_UN)
        close(other)
        log.take(tried("mount"))
        #expect(details(SandboxLog(directory: folder.path) { 1 }) == ["bpf", "keyctl", "mount"])
    }
}
