// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import Foundation
import Glibc
import IdleScheduling
import SearchlightEngine
import TestSupport

/// Work that waits for an idle machine, and the services that do this work.
protocol PendingWork {
    /// The folder for the stores.
    var place: String { get }
    /// The job in the scheduler.
    var job: ScheduledJob { get }
    /// The amount of pending work, for the names of figures.
    var amount: String { get }
    /// Starts a service and waits until its background job starts.
    func begin() async throws -> BusyService
}

extension PendingWork {
    /// The environment without the user's extensions and settings.
    var environment: [String: String] {
        let nowhere = place + "/nowhere"
        return ProcessInfo.processInfo.environment.merging([
            "HOME": nowhere, "XDG_DATA_HOME": nowhere, "XDG_DATA_DIRS": nowhere, "XDG_CONFIG_HOME": nowhere,
            "SEARCHLIGHT_SCHEDULING": "",
        ]) { $1 }
    }

    /// Waits until the scheduler would start the job immediately. Pressure is an average that still
    /// includes earlier measurements, and a waiting service checks only once a minute.
    func settle() async throws {
        let monitor = ConditionMonitor(roots: .machine(environment: environment), store: place)
        monitor.sense(.waiting)
        defer { monitor.sense(.off) }
        // Processor load is the difference between two samples.
        monitor.look()
        let end = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < end {
            try await Task.sleep(for: .seconds(1))
            var scheduler = Scheduler(now: 0)
            _ = scheduler.handle(.conditions(monitor.look()), at: 0)
            let actions = scheduler.handle(.jobs([job]), at: 0)
            if actions.contains(.start(job.key)) { return }
        }
        throw BenchmarkError("The machine is busy: no background job may start.")
    }

    /// Waits until a new service starts the job.
    func started(_ service: ServiceProcess) async throws -> BusyService {
        let service = BusyService(service, doing: job.key)
        do { _ = try await service.entry(.start, within: .seconds(60)) } catch {
            service.end()
            throw error
        }
        return service
    }

    /// Runs the command for a store.
    func command(_ arguments: [String]) throws {
        let program =
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
            + "/searchlight"
        let (ending, output) = try TestSupport.ChildProcess.run(program, arguments, environment: environment)
        guard ending == .exited(0) else {
            throw BenchmarkError("“searchlight \(arguments.joined(separator: " "))”: \(ending). \(output)")
        }
    }
}

/// An extension with a pending reindex of all items in each new store, and the services that run
/// it.
struct Backlog: PendingWork {
    let bundle = "com.example.backlog"
    var job: ScheduledJob { ScheduledJob(key: .reindex(bundle: bundle), urgency: .freshness, requested: 0) }
    var amount: String { "\(Self.items) items waiting" }
    /// The folder for the stores.
    let place: String
    /// The folder that contains the only extension.
    let extensions: String

    /// The number of pending items.
    static var items: Int { batches * itemsPerBatch }
    private static let batches = 200
    private static let itemsPerBatch = 500

    /// Creates a folder with only one extension. The extension does not cooperate: it never checks
    /// whether it is throttled.
    init(place: String, seed: UInt64) throws {
        self.place = place
        extensions = place + "/extensions"
        var random = SplitMix64(seed: seed)
        let batches = try (0..<Self.batches).map { try MeasuredExtensions.batch($0, of: Self.itemsPerBatch, &random) }
        let measured = try MeasuredExtensions(folder: place + "/compiled")
        try measured.compile(bundle, source: "measured.c", options: [])
        try measured.writeRecords(batches)
        let folder = "/\(bundle).searchext"
        try FileManager.default.createDirectory(atPath: extensions, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: measured.folder + folder, toPath: extensions + folder)
        try FileManager.default.moveItem(
            atPath: measured.folder + "/\(measured.c).searchext/records", toPath: extensions + folder + "/records")
    }

    func begin() async throws -> BusyService {
        try await settle()
        return try await started(try start(try newStore()))
    }

    /// Returns the time for a complete reindex by a user's command, in seconds.
    func reindexByPerson() throws -> Double {
        let store = try newStore()
        // Throttled, so that the service does not start the reindex on its own.
        try command(["throttle", bundle, "on", "--in-process"] + options(store))
        let service = BusyService(try start(store), doing: job.key)
        defer { service.end() }
        return try ProcessCost.measure { try command(["reindex", bundle] + options(store)) }.wall
    }

    /// Starts a service on a machine that is too busy for the pending reindex.
    func beginLater() throws -> BusyService { BusyService(try start(try newStore()), doing: job.key) }

    private func newStore() throws -> String {
        let store = place + "/store"
        try? FileManager.default.removeItem(atPath: store)
        return store
    }

    private func start(_ store: String) throws -> ServiceProcess {
        try ServiceProcess(store: store, extensions: extensions, environment: environment)
    }

    private func options(_ store: String) -> [String] { ["--store", store, "--extensions", extensions] }
}

/// A service with pending work.
final class BusyService {
    private let service: ServiceProcess
    private let job: ScheduledJob.Key
    private let log: DecisionLog

    init(_ service: ServiceProcess, doing job: ScheduledJob.Key) {
        (self.service, self.job) = (service, job)
        log = DecisionLog(storeDirectory: service.store)
    }

    /// The process ID of the service.
    var identifier: pid_t { service.identifier }

    /// `true` if the job is waiting or paused.
    var waits: Bool { decisions.last.map { [.wait, .pause, .stop].contains($0.kind) } ?? false }

    /// `true` if the job is done.
    var isDone: Bool { decisions.contains { $0.kind == .done } }

    /// The number of times that the job was paused.
    var pauses: Int { decisions.count { $0.kind == .pause } }

    /// The scheduler's decisions about the job, oldest first.
    private var decisions: [JournalEntry] { log.last(10_000, about: [job]) }

    /// Waits for a decision about the job.
    func entry(_ kind: JournalEntry.Kind, within patience: Duration) async throws -> JournalEntry {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if let entry = decisions.first(where: { $0.kind == kind }) { return entry }
            try await Task.sleep(for: .milliseconds(20))
        }
        let told = decisions.map { "\($0.kind.rawValue) \($0.gates.map(\.code).joined(separator: ", "))" }
        throw BenchmarkError("No “\(kind.rawValue)” within \(patience): \(told.joined(separator: "; ")).")
    }

    /// Returns the time for the background reindex, in seconds.
    func reindexed(within patience: Duration) async throws -> Double {
        let start = try await entry(.start, within: patience)
        return try await entry(.done, within: patience).moment - start.moment
    }

    func end() { service.stop() }

    /// Kills the service, which also terminates its workers.
    func kill() { service.stop(SIGKILL) }
}
