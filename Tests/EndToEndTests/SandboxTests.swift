// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import BusTransport
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import ServiceMessages
import Testing

/// The access that the sandbox allows, the missing protections, and the remains.
@Suite("Inside the sandbox", .timeLimit(.minutes(20)))
struct SandboxTests {
    private func reports(_ harness: Harness) -> [SandboxReport] {
        harness.recordedEvents.compactMap { if case .confined(_, let report) = $0 { report } else { nil } }
    }

    private func refusals(_ harness: Harness) -> [SandboxRefusal] {
        harness.recordedEvents.compactMap { if case .refusal(_, let refusal) = $0 { refusal } else { nil } }
    }

    private func notes(_ harness: Harness, _ count: Int) throws -> String {
        let notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        for number in 0..<count {
            try Data("# Note \(number)\n\nText.\n".utf8).write(to: URL(filePath: notes + "/\(number).md"))
        }
        return notes
    }

    @Test("a Swift extension works, asks for nothing forbidden, and is fully confined")
    func journal() async throws {
        let harness = try Harness()
        let bundle = try harness.installJournal(notes: try notes(harness, 20))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 20)
            let item = try #require(try await engine.search("note", bundle: nil, limit: 1).hits.first?.item)
            #expect(try await engine.preview(of: item, query: "note").source == .extension)
            let path = harness.folder + "/drop.md"
            let dropped = try await engine.drag(
                item, accepted: ["net.daringfireball.markdown"], to: .file(path: path))
            #expect(dropped.representation.form == .file)
        }
        #expect(refusals(harness).isEmpty, "\(refusals(harness))")
        let report = try #require(reports(harness).first)
        #expect(report.missing.isEmpty && report.withheld.isEmpty)
        #expect(
            harness.recordedEvents.count { if case .started = $0 { true } else { false } } == reports(harness).count)
    }

    @Test("a folder that the user did not list is not readable, and the attempt is reported")
    func unlistedFolder() async throws {
        let harness = try Harness()
        let listed = try notes(harness, 1)
        let bundle = try harness.installJournal(notes: listed)
        let other = harness.folder + "/diary"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: listed + "/linked.md", withDestinationPath: other + "/day.md")
        try Data("# Day\n".utf8).write(to: URL(filePath: other + "/day.md"))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
        }
        #expect(refusals(harness).map(\.description) == ["tried to read \(other)/day.md"])
    }

    @Test("a Swift worker starts 200 times without a crash")
    func manyStarts() async throws {
        let harness = try Harness()
        let bundle = try harness.installJournal(notes: try notes(harness, 1))
        struct Nobody: DonationReceiver {
            func receive(_ batch: IndexBatch) async throws(BusError) {}
            func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }
            func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] { [] }
            func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
                RecordReply(record: nil)
            }
        }
        let registry = ExtensionRegistry(searchPath: [harness.extensions])
        let configuration = try harness.workerConfiguration()
        for _ in 0..<200 {
            let host = ExtensionHost(configuration: configuration, registry: registry, receiver: Nobody()) {
                harness.take($0)
            }
            _ = try await host.reindexAll(bundle)
            await host.shutdown()
        }
        #expect(reports(harness).count == 200)
        #expect(harness.retries == 0)
        #expect(refusals(harness).isEmpty, "\(refusals(harness))")
    }

    @Test("a folder that became a link in a folder of the extension's own opens nothing")
    func plantedLink() async throws {
        let harness = try Harness()
        let bundle = "com.example.escapes"
        try harness.install(
            bundle, library: try CFixture.library("escapes"),
            manifest: [
                "Searchlight": [
                    "WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"],
                    "ReadablePaths": ["$XDG_DOCUMENTS_DIR/marks/inner", "~/around"],
                ]
            ])
        let outside = harness.folder + "/config/org.example.other"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try Data("secret\n".utf8).write(to: URL(filePath: outside + "/secret"))
        try Data("\(harness.folder) \(outside)/secret \(outside) /nowhere 9\n".utf8)
            .write(to: URL(filePath: harness.marks + "/\(bundle).searchext.target"))
        // The first as the extension could create it, the second as the user could, leading through
        // the first.
        for (link, target) in [("Documents/marks/inner", outside), ("around", "Documents/marks/inner")] {
            try FileManager.default.createSymbolicLink(atPath: harness.folder + "/" + link, withDestinationPath: target)
        }
        try await harness.withEngine { engine async throws in _ = try await engine.reindexAll(bundle) }
        #expect(harness.messages.contains("ATTEMPT read another app's file: 13"))
        let report = try #require(reports(harness).first)
        for path in ["$XDG_DOCUMENTS_DIR/marks/inner", "$HOME/around"] {
            #expect(report.withheld.contains { $0.path == path && $0.reason.contains("a link") }, "\(report)")
        }
    }

    @Test("on a kernel without support, everything is still rejected, and the report names the missing support")
    func withoutTelling() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("forks")
        let engine = try harness.engine { $0.protections.remove(.telling) }
        _ = try? await engine.reindexAll(bundle)
        await engine.close()
        #expect(harness.messages.contains("child -1"))
        #expect(!harness.messages.contains { $0.hasPrefix("child ") && $0 != "child -1" })
        #expect(refusals(harness).isEmpty)
        let report = try #require(reports(harness).first)
        #expect(report.applied.contains(.systemCalls) && !report.applied.contains(.telling))
    }

    @Test("switched off for debugging, it restricts nothing, and status says so")
    func off() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("forks")
        let engine = try harness.engine { $0.sandbox = .off }
        _ = try? await engine.reindexAll(bundle)
        #expect(try await engine.status(isExact: false).sandbox.isEnforced == false)
        await engine.close()
        #expect(harness.messages.contains { $0.hasPrefix("child ") && $0 != "child -1" })
        #expect(WorkerConfiguration.SandboxMode(environment: ["SEARCHLIGHT_SANDBOX": "off"]) == .off)
        for value in ["0", "", "no", "OFF"] {
            #expect(WorkerConfiguration.SandboxMode(environment: ["SEARCHLIGHT_SANDBOX": value]) == .enforced)
        }
    }

    @Test("a worker's temporary folder is removed with it, and so are the folders of killed hosts")
    func temporaryFolder() async throws {
        let harness = try Harness()
        let base = harness.folder + "/.cache/searchlight/workers"
        // No process has this number.
        let left = base + "/4194305/com.example.x-1"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let item = try await engine.item(named: "alpha")
            _ = try await engine.drag(item, accepted: ["public.rtf"], to: .file(path: harness.folder + "/drop.rtf"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: base) == ["\(getpid())"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: base + "/\(getpid())").isEmpty)
    }

    @Test("denied attempts are kept after the process, are summed up, and a damaged file does no harm")
    func kept() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("forks")
        for _ in 0..<2 {
            try await harness.withEngine { engine async throws in _ = try? await engine.reindexAll(bundle) }
        }
        let entry = try #require(try await harness.statusOfAnother().sandbox.history.bundles[bundle]?.refusals.first)
        #expect(entry.refusal.description == "tried to start a process (clone)" && entry.first <= entry.last)
        // Two attempts of each process, because a request whose worker crashed is repeated once.
        #expect(entry.refusal.count >= 2)
        try Data("{garbage".utf8).write(to: URL(filePath: harness.store + "/sandbox.json"))
        #expect(try await harness.statusOfAnother().sandbox.history.bundles.isEmpty)
        let (_, status) = try Command(harness: harness)("status")
        #expect(status.contains("Sandbox: "), "\(status)")
    }

    @Test("denied attempts are removed after the bundle was replaced, until it tries again")
    func mended() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("forks")
        let command = Command(harness: harness)
        _ = try command("reindex")
        #expect(try command("status").output.contains("tried to start a process"))
        let manifest = URL(filePath: harness.extensions + "/\(bundle).searchext/Info.plist")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try Data(text.replacing("<string>1</string>", with: "<string>2</string>").utf8).write(to: manifest)
        #expect(try !command("status").output.contains("tried to start a process"))
        _ = try command("reindex")
        let again = try await harness.statusOfAnother().sandbox.history.bundles[bundle]
        #expect(again?.refusals.count == 1)
        #expect(try command("status").output.contains("tried to start a process"))
    }
}
