// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightEngine

/// The JSON files of a store, apart from the jobs (`JobsFuzzTortureTests`).
@Suite("Torture, hostile files of a store")
struct StoreFileFuzzTortureTests {
    private struct Broken: Error { var reason: String }

    private static let tokens = [
        "{", "}", "[", "]", ":", ",", "null", "-1", "1e999", "\"", "9223372036854775808", "true", "\"checksum\":",
    ]

    /// Mutates a file. `read` returns a description of the content; it is the same when it is read
    /// again.
    private func run(
        _ name: String, _ folder: TemporaryFolder, _ read: @escaping () -> String
    ) throws {
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [try folder.read(name)], tokens: Self.tokens.map { Array($0.utf8) })
        let original = read()
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            try folder.write(bytes, to: name)
            let content = read()
            guard content == read() else { throw Broken(reason: "read again it is another one") }
            return content == original
        }
        #expect(accepted > 0, "\(name), seed \(MutationLoop.seed)")
    }

    @Test("The switches of the desktop are read, or nothing is shown")
    func desktop() throws {
        let folder = try TemporaryFolder()
        _ = try DesktopVisibilityFile(directory: folder.path).set("com.example.notes", isShown: false)
        try run(DesktopVisibilityFile.fileName, folder) {
            let current = DesktopVisibilityFile(directory: folder.path).current
            return "\(current.isKnown) \(current.hiddenBundles.sorted())"
        }
    }

    @Test("Reports about omitted content are read or dropped")
    func omissions() throws {
        let folder = try TemporaryFolder()
        let store = OmissionStore(directory: folder.path, isWritable: true)
        store.begin("com.example.notes")
        store.take(.leftOut(bundle: "com.example.notes", LeftOut(name: "a.pdf", reason: "it is \"too\" large")))
        store.settle("com.example.notes", .everything)
        try run(OmissionStore.fileName, folder) {
            let bundles = OmissionStore(directory: folder.path, isWritable: false).bundles
            return "\(bundles.sorted { $0.key < $1.key })"
        }
    }

    @Test("The ledger of extensions is read, or treated as missing")
    func ledger() throws {
        let folder = try TemporaryFolder()
        LedgerStore(directory: folder.path).update { _ in }
        try run("installed.json", folder) {
            let store = LedgerStore(directory: folder.path)
            return "\(store.wasMissing) \(store.ledger)"
        }
    }

    @Test("The schedule is read, or treated as damaged and empty")
    func schedule() throws {
        let folder = try TemporaryFolder()
        try ScheduleStore(directory: folder.path).update { state in
            state.throttled = ["com.example.mail"]
            state.records["usage"] = Data([1, 2, 3])
        }
        try run("schedule.json", folder) {
            let store = ScheduleStore(directory: folder.path)
            if store.wasDamaged, store.state != ScheduleState() { return "content of a damaged file" }
            return "\(store.wasDamaged) \(store.state.throttled) \(store.state.records.keys.sorted())"
        }
    }

    @Test("The health of extensions is read, or treated as damaged and empty")
    func health() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 3)
        try HealthFile(directory: folder.path).replace(["com.example.a": HealthFileTests.health(&random)])
        try run("extensions.json", folder) {
            let file = HealthFile(directory: folder.path)
            return "\(file.wasDamaged) \(file.load().keys.sorted())"
        }
    }

    @Test("Denied attempts are read within the limits, or dropped")
    func attempts() throws {
        let folder = try TemporaryFolder()
        let log = SandboxLog(directory: folder.path) { 1 }
        log.take(.refusal(bundle: "com.example.a", SandboxRefusal(.kernel, "mount", count: 3)))
        try run("sandbox.json", folder) {
            // A further attempt is added to whatever was read.
            let log = SandboxLog(directory: folder.path) { 2 }
            let history = log.history()
            var sum = history
            sum.add(history)
            return "\(sum.bundles.count) \(history.bundles.keys.sorted())"
        }
    }
}
