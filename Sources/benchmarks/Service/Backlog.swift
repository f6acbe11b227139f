// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine
import TestSupport

/// An extension that owes all its items to each new store, and the services that are begun for it.
struct Backlog {
    let bundle: String
    /// Where the stores are made.
    let place: String
    /// The folder of the one extension.
    let extensions: String

    private static let begins = Duration.seconds(60)

    /// A service that has begun to reindex in the background.
    func begin() async throws -> BusyService {
        let store = try newStore()
        let service = BusyService(try start(store), of: self)
        do { _ = try await service.entry(.start, within: Self.begins) } catch {
            service.end()
            throw error
        }
        return service
    }

    /// How long a person's command takes for all of it, in seconds.
    func reindexByPerson() throws -> Double {
        let store = try newStore()
        // So that it does not begin by itself.
        try command(["throttle", bundle, "on", "--in-process"], store)
        let service = BusyService(try start(store), of: self)
        defer { service.end() }
        return try ProcessCost.measure { try command(["reindex", bundle], store) }.wall
    }

    private func newStore() throws -> String {
        let store = place + "/store"
        try? FileManager.default.removeItem(atPath: store)
        return store
    }

    private func start(_ store: String) throws -> ServiceProcess {
        try ServiceProcess(store: store, extensions: extensions, environment: environment)
    }

    /// Without the extensions and the settings of whoever measures.
    private var environment: [String: String] {
        let nowhere = place + "/nowhere"
        return ProcessInfo.processInfo.environment.merging([
            "HOME": nowhere, "XDG_DATA_HOME": nowhere, "XDG_DATA_DIRS": nowhere, "XDG_CONFIG_HOME": nowhere,
            "SEARCHLIGHT_SCHEDULING": "",
        ]) { $1 }
    }

    private func command(_ arguments: [String], _ store: String) throws {
        let program =
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
            + "/searchlight"
        let words = arguments + ["--store", store, "--extensions", extensions]
        let (ending, output) = try TestSupport.ChildProcess.run(program, words, environment: environment)
        guard ending == .exited(0) else {
            throw BenchmarkError("“searchlight \(words.joined(separator: " "))”: \(ending). \(output)")
        }
    }
}

/// A service with a backlog.
final class BusyService {
    private let service: ServiceProcess
    private let backlog: Backlog
    private let log: DecisionLog

    init(_ service: ServiceProcess, of backlog: Backlog) {
        (self.service, self.backlog) = (service, backlog)
        log = DecisionLog(storeDirectory: service.store)
    }

    /// Whether the backlog is done.
    var isDone: Bool { decisions.contains { $0.kind == .done } }

    /// What was decided about it, the oldest first.
    private var decisions: [JournalEntry] { log.last(10_000, about: .reindex(bundle: backlog.bundle)) }

    /// Waits for a decision about the backlog.
    func entry(_ kind: JournalEntry.Kind, within patience: Duration) async throws -> JournalEntry {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if let entry = decisions.first(where: { $0.kind == kind }) { return entry }
            try await Task.sleep(for: .milliseconds(20))
        }
        let told = decisions.map { "\($0.kind.rawValue) \($0.gates.map(\.rawValue).joined(separator: ", "))" }
        throw BenchmarkError("No “\(kind.rawValue)” within \(patience): \(told.joined(separator: "; ")).")
    }

    /// How long the whole backlog took in the background, in seconds.
    func reindexed(within patience: Duration) async throws -> Double {
        let start = try await entry(.start, within: patience)
        return try await entry(.done, within: patience).moment - start.moment
    }

    func end() { service.stop() }
}
