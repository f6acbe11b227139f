// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("The file of extensions' health")
struct HealthFileTests {
    static func health(_ random: inout SplitMix64) -> ExtensionHealth {
        var health = ExtensionHealth()
        for _ in 0...random.below(4) {
            health.note(
                .init(
                    moment: Double(random.below(1000)) / 7, kind: random.pick(ExtensionHealth.FailureKind.allCases),
                    during: random.text(length: 9), exit: .signalled(11), lastOutput: [random.text(length: 20)]),
                BundleFingerprint(manifest: .init(path: "/"), library: nil, worker: nil))
        }
        return health
    }

    @Test("A written file is read unchanged, and a missing file is not damage")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        let empty = HealthFile(directory: folder.path)
        #expect(empty.load().isEmpty && !empty.wasDamaged)
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let all = Dictionary(
                (0..<random.below(5)).map { ("com.example.n\($0)", Self.health(&random)) }, uniquingKeysWith: { $1 })
            try HealthFile(directory: folder.path).replace(all)
            let again = HealthFile(directory: folder.path)
            #expect(again.load() == all && !again.wasDamaged)
        }
        #expect(try Set(folder.names).isSubset(of: ["extensions.json", "extensions.lock"]))
    }

    @Test("Evidence beyond the file's bound is removed, the oldest first, and decisions stay")
    func tooMuch() throws {
        let folder = try TemporaryFolder()
        let print = BundleFingerprint(manifest: .init(path: "/"), library: nil, worker: nil)
        var all: [String: ExtensionHealth] = [:]
        // Each file has the maximum content that is stored: 64 KiB of names and reasons.
        for number in 0..<200 {
            var health = ExtensionHealth()
            for second in 0..<3 {
                health.note(.init(moment: Double(number * 10 + second), kind: .crashed, during: "preview"), print)
            }
            health.setAside(
                (0..<1000).map {
                    .init(
                        identifier: "\($0)", reason: String(repeating: "x", count: 100), since: Double(number * 10))
                }, print)
            all["com.example.n\(number)"] = health
        }
        try HealthFile(directory: folder.path).replace(all)
        let kept = HealthFile(directory: folder.path)
        #expect(!kept.wasDamaged && kept.load().count == 200)
        #expect(kept.load().values.allSatisfy { $0.quarantine != nil })
        #expect(kept.load()["com.example.n199"] == all["com.example.n199"])
        #expect(kept.load()["com.example.n0"]?.itemsSetAside.isEmpty == true)
    }

    @Test("Any changed byte is damage, or changes nothing; the file is kept beside the new one")
    func damage() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 7)
        let all = ["com.example.a": Self.health(&random)]
        try HealthFile(directory: folder.path).replace(all)
        let whole = try folder.read("extensions.json")
        for _ in 0..<200 {
            var bytes = whole
            switch random.below(3) {
            case 0: bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255))
            case 1: bytes.removeLast(1 + random.below(bytes.count))
            default: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
            }
            try folder.write(bytes, to: "extensions.json")
            let file = HealthFile(directory: folder.path)
            #expect(file.wasDamaged ? file.load().isEmpty : file.load() == all)
            guard file.wasDamaged else { continue }
            try file.replace(all)
            #expect(try folder.read("extensions.json.damaged") == bytes)
            #expect(HealthFile(directory: folder.path).load() == all)
        }
    }

    @Test("An invalid name, a format of another release and a special file are damage")
    func foreign() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 1)
        try folder.write(Array(try HealthDocument(["../x": Self.health(&random)]).encoded()), to: "extensions.json")
        #expect(HealthFile(directory: folder.path).wasDamaged)
        try folder.write(Array(#"{"formatVersion":2,"extensions":{}}"#.utf8), to: "extensions.json")
        #expect(HealthFile(directory: folder.path).wasDamaged)
        try FileManager.default.removeItem(atPath: folder.path("extensions.json"))
        try FileManager.default.createDirectory(
            atPath: folder.path("extensions.json"), withIntermediateDirectories: false)
        #expect(HealthFile(directory: folder.path).wasDamaged)
    }

    @Test("Beyond the bound, disabled and quarantined extensions stay")
    func tooMany() {
        var random = SplitMix64(seed: 3)
        var all: [String: ExtensionHealth] = [:]
        for number in 0..<1500 { all["com.example.n\(number)"] = Self.health(&random) }
        let held = all.filter { $0.value.quarantine != nil }
        let kept = HealthDocument(all).extensions
        #expect(kept.count == HealthDocument.maximumBundles)
        #expect(held.count < kept.count && held.keys.allSatisfy { kept[$0] != nil })
    }

    @Test("Concurrent changes are all kept")
    func together() throws {
        let folder = try TemporaryFolder()
        let (files, changes) = (8, 10)
        DispatchQueue.concurrentPerform(iterations: files) { number in
            // Each process has its own file and does not know the others.
            let file = HealthFile(directory: folder.path, attempts: 100_000)
            for change in 0..<changes {
                do throws(HealthStoreError) {
                    _ = try file.update { all in
                        for name in ["com.example.common", "com.example.n\(number)"] {
                            all[name, default: ExtensionHealth()].setAside(
                                [.init(identifier: "\(number) \(change)", reason: "crashed", since: 0)],
                                BundleFingerprint(manifest: nil, library: nil, worker: nil))
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        let all = HealthFile(directory: folder.path).load()
        #expect(all.count == files + 1)
        #expect(all["com.example.common"]?.itemsSetAside.count == files * changes)
    }

    @Test("A process that was stopped with the file locked blocks no other, and nothing is changed")
    func stopped() throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: 2)
        let all = ["com.example.a": Self.health(&random)]
        try HealthFile(directory: folder.path).replace(all)
        let lock = open(folder.path("extensions.lock"), O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        let error = #expect(throws: HealthStoreError.self) {
            try HealthFile(directory: folder.path, attempts: 1).replace([:])
        }
        #expect(error?.reason == "another process has locked it")
        #expect(HealthFile(directory: folder.path).load() == all)
    }

    @Test("A huge file is damage, and is not read")
    func huge() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("{".utf8), to: "extensions.json")
        try #require(truncate(folder.path("extensions.json"), 1 << 40) == 0)
        let file = HealthFile(directory: folder.path)
        #expect(file.wasDamaged && file.load().isEmpty)
        var random = SplitMix64(seed: 2)
        let all = ["com.example.a": Self.health(&random)]
        try file.replace(all)
        #expect(HealthFile(directory: folder.path).load() == all)
    }
}

extension HealthFile {
    func replace(_ all: [String: ExtensionHealth]) throws { _ = try update { $0 = all } }
}
