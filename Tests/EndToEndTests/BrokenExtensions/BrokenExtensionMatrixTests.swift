// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchlightEngine
import ServiceMessages
import Testing

/// Runs every broken extension together with a good one. Each fault has a typed outcome and does
/// not affect the good one.
@Suite("A broken extension next to a good extension", .timeLimit(.minutes(20)))
struct BrokenExtensionMatrixTests {
    @Test("harms no other extension, and its fault is reported", arguments: BrokenExtension.tried)
    func hurtsNobody(broken: BrokenExtension) async throws {
        let harness = try Harness()
        let good = try harness.installFixture("notebook")
        try broken.install(in: harness)
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        harness.listen { event in
            if case .output(_, "asked") = event { asking.yield() }
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(good) == 3)
            // The extension works up to the fault.
            if !broken.isUnusable, broken.request != .reindexAll {
                #expect(try await engine.reindexAll(broken.bundle) == 1)
            }
        }
        try await harness.withEngine(limits: broken.limits) { engine async throws in
            var answer = try await broken.ask(engine, asked, folder: harness.folder)
            if case .none = answer, !engine.itemsSetAside(of: broken.bundle).isEmpty { answer = .setAside }
            #expect(broken.outcome.matches(answer), "expected: \(broken.outcome); found: \(answer)")
            try await expectHarmless(broken, engine, good: good)
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(good) == 3)
            #expect(try await engine.data(of: "alpha", as: "public.html", bundle: good).length == 20)
            try await expectHarmless(broken, engine, good: good)
        }
        await expectNoProcesses(of: harness)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: harness.folder).allSatisfy { !$0.hasPrefix("drop") })
    }

    /// Checks that all acknowledged items are stored, and that exactly the unacknowledged work is
    /// pending.
    private func expectHarmless(_ broken: BrokenExtension, _ engine: SearchlightEngine, good: String) async throws {
        let counts = try await engine.itemCounts()
        #expect(counts[good] == 3)
        #expect(broken.items.contains(counts[broken.bundle] ?? 0), "\(counts)")
        // An item that was reported as missing is requested again.
        let owed = engine.owedJobs.filter { !broken.outcome.mayBeNotFound || $0.cause != .foundGone }.map(\.bundle)
        #expect(!owed.contains(good))
        guard broken.request.isReindex, broken.mayOwe else { return #expect(owed.isEmpty, "\(owed)") }
        if !broken.outcome.works {
            #expect(owed == [broken.bundle])
            #expect(engine.owedJobs.first?.lastFailure?.isEmpty == false)
        }
    }

    /// Checks that no worker process and no child of a worker is left.
    private func expectNoProcesses(of harness: Harness) async {
        let workers = Set(
            harness.recordedEvents.compactMap { event in
                if case .started(_, let process) = event { process } else { nil }
            })
        let children = Set(harness.messages.compactMap { $0.hasPrefix("child ") ? Int32($0.dropFirst(6)) : nil })
        #expect(!workers.isEmpty)
        var left: [Int32] = []
        // A killed process disappears a moment later.
        for _ in 0..<10_000 {
            left = WorkerProcesses.all.filter { worker in
                workers.contains(worker.group) || workers.contains(worker.process) || children.contains(worker.process)
            }.map(\.process)
            if left.isEmpty { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("processes live on: \(left)")
    }
}

extension BrokenExtension {
    /// Long time limits where time does not matter, so that a busy machine does not affect the
    /// result.
    var limits: WorkerConfiguration.Limits {
        var limits = WorkerConfiguration.Limits.patient
        guard hangs else { return limits }
        let short = Duration.milliseconds(600)
        (limits.cancelGrace, limits.endGrace) = (.milliseconds(100), .milliseconds(100))
        if isUnusable { limits.load = short }
        switch request {
        case .throttle, .endThrottle: limits.notice = short
        default: (limits.firstSign, limits.progress, limits.answer) = (short, short, short)
        }
        return limits
    }

    /// `true` if a failure may leave pending work.
    var mayOwe: Bool {
        if case .isRefused = outcome { return false }
        return true
    }

    /// Sends the request to the extension.
    func ask(
        _ engine: SearchlightEngine, _ asked: AsyncStream<Void>, folder: String
    ) async throws -> BrokenAnswer {
        do {
            return try await answer(engine, asked, folder)
        } catch let error as EngineError {
            return .error(error)
        }
    }

    private func answer(
        _ engine: SearchlightEngine, _ asked: AsyncStream<Void>, _ folder: String
    ) async throws -> BrokenAnswer {
        switch request {
        case .reindexAll: _ = try await engine.reindexAll(bundle)
        case .reindexItems: _ = try await engine.reindexItems(["one"], of: bundle)
        case .data:
            let item = try await engine.item(named: "one")
            _ = try await engine.drag(item, accepted: ["public.html"], to: .file(path: folder + "/drop"))
            try FileManager.default.removeItem(atPath: folder + "/drop")
        case .file:
            let item = try await engine.item(named: "one")
            _ = try await engine.fulfil(Representation(type: "public.rtf", form: .file), of: item)
        case .preview:
            let preview = try await engine.preview(of: try await engine.item(named: "one"), query: nil)
            if preview.source != .extension { return .problem(preview.problem ?? "no extension renders it") }
        case .throttle, .endThrottle:
            _ = try await engine.reindexAll(bundle)
            let notice = ThrottleNotice(reason: .requested, itemsPerSecond: 1)
            guard await engine.throttle(bundle, request == .throttle ? notice : nil) else { return .unheard }
        case .cancelledData:
            let item = try await engine.item(named: "one")
            let asking = Task { try await engine.fulfil(Representation(type: "public.html", form: .data), of: item) }
            for await _ in asked { break }
            asking.cancel()
            _ = try await asking.value
        }
        return .none
    }
}

/// The processes that run the worker program.
enum WorkerProcesses {
    struct Process {
        var process: Int32
        var group: Int32
    }

    static var all: [Process] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { name in
            guard let number = Int32(name),
                let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/exe"),
                program.hasSuffix("/searchlight-worker"),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { return nil }
            // The name of the program, in parentheses, may contain any character.
            let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ")
            guard fields.count > 3, let group = Int32(fields[3]), fields[1] != "Z" else { return nil }
            return Process(process: number, group: group)
        }
    }
}
