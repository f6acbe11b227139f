// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport
import TestSupport
import TortureSupport

/// Starts, kills and stops the service, and detects an unexpected exit.
final class ServiceProcess {
    /// The time limit for the service to listen, to exit, or to answer. It allows for a busy
    /// machine.
    static let patience = Duration.seconds(60)
    /// The exit status if the store cannot be written (the input and output errors in EngineError).
    private static let refusal = ChildProcess.Ending.exited(8)
    /// The exit status if a command has the store open; the next service waits for the store.
    private static let inUse = ChildProcess.Ending.exited(75)

    private let place: TorturePlace
    private let report: TortureReport
    private let clock = ContinuousClock()
    private var process: ChildProcess?

    init(_ place: TorturePlace, _ report: TortureReport) {
        (self.place, self.report) = (place, report)
    }

    var identifier: pid_t? { process?.identifier }

    /// Starts the service and waits until it listens.
    ///
    /// - Parameter mayRefuse: `true` if the service may exit because its store cannot be written.
    /// - Returns: `true` if the service is running.
    func start(mayRefuse: Bool = false) async throws -> Bool {
        let begin = clock.now
        while clock.now - begin < Self.patience {
            if let isRunning = try await startOnce(mayRefuse: mayRefuse) { return isRunning }
            report.count("starts while a command had the store")
            try await Task.sleep(for: .milliseconds(20))
        }
        report.complain("a command has the store for \(Self.patience): \(logTail)")
        throw TortureProblem("the service does not start")
    }

    /// - Returns: `true` if the service is running, `nil` if a command has the store open.
    private func startOnce(mayRefuse: Bool) async throws -> Bool? {
        guard process == nil else { return true }
        var environment = place.environment
        environment["LD_PRELOAD"] = place.folder + "/shifted-clock.so"
        environment["SHIFTED_CLOCK"] = place.clock
        let log = open(place.serviceLog, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let handle = FileHandle(fileDescriptor: log, closeOnDealloc: true)
        let process = try ChildProcess(
            place.products + "/searchlightd", ["--no-session-bus"], environment: environment, output: .file(handle),
            errors: .file(handle))
        report.count("starts of the service")
        let begin = clock.now
        while !listens(process) {
            guard process.isRunning else {
                let ending = process.wait()
                if ending == Self.refusal, mayRefuse {
                    report.count("starts refused without room or rights")
                    return false
                }
                if ending == Self.inUse { return nil }
                report.complain("a starting service ended (\(ending)): \(logTail)")
                throw TortureProblem("the service does not start")
            }
            guard clock.now - begin < Self.patience else {
                report.complain("a starting service does not listen within \(Self.patience): \(logTail)")
                throw TortureProblem("the service does not listen")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        self.process = process
        report.note("ms to start the service", peak: Int((clock.now - begin) / .milliseconds(1)))
        return true
    }

    /// Returns `true` if this process listens. If an earlier service was killed while it spawned a
    /// worker, the child keeps the socket and the store's lock until exec(2).
    private func listens(_ process: ChildProcess) -> Bool {
        guard let socket = try? ServiceSocket.connect(inFolder: place.store) else { return false }
        return (try? PeerIdentity(of: socket))?.process == process.identifier
    }

    /// Kills the service immediately.
    func kill() {
        guard let process else { return }
        look()
        process.send(SIGKILL)
        process.wait()
        self.process = nil
        report.count("kills of the service")
    }

    /// Stops the service gracefully, with SIGTERM.
    func stop() async {
        guard let process else { return }
        look()
        guard self.process != nil else { return }
        process.send(SIGTERM)
        let begin = clock.now
        while process.isRunning, clock.now - begin < Self.patience { try? await Task.sleep(for: .milliseconds(10)) }
        if process.isRunning {
            report.complain("a service did not end on request within \(Self.patience): \(logTail)")
            process.send(SIGKILL)
        }
        let ending = process.wait()
        if ending != .exited(0), ending != .killed(SIGKILL) {
            report.complain("a service that was asked to end ended as \(ending): \(logTail)")
        }
        self.process = nil
        report.count("ends of the service in order")
    }

    /// Reports a violation if the service exited on its own.
    func look() {
        guard let process, !process.isRunning else { return }
        report.complain("the service ended by itself (\(process.wait())): \(logTail)")
        self.process = nil
    }

    /// Kills one of the workers, selected by `choice`.
    func killWorker(_ choice: Int) {
        guard let identifier else { return }
        let workers = ProcessFacts.children(of: identifier)
        guard !workers.isEmpty else { return }
        report.count("kills of workers")
        Glibc.kill(workers[choice % workers.count], SIGKILL)
    }

    /// Records the current memory, descriptors and threads.
    func measure() {
        guard let identifier, let memory = ProcessFacts.memory(of: identifier) else { return }
        let facts = ProcessFacts(identifier)
        report.note("MiB of memory of the service", peak: memory.now / 1024)
        report.note("descriptors of the service", peak: facts.descriptors)
        report.note("threads of the service", peak: facts.threads)
    }

    /// Connects to the service when the store is writable. A service that could not reopen its
    /// store retries after a second.
    func connect() async throws -> RemoteEngine {
        let begin = clock.now
        while true {
            do {
                guard
                    let engine = try await RemoteEngine.connect(
                        storeDirectory: place.store, program: "torture", patience: Self.patience)
                else { throw TortureProblem("no process listens") }
                return engine
            } catch EngineError.service(.refused) where clock.now - begin < .seconds(5) {
                report.count("connections refused after a repair")
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private var logTail: String {
        String(((try? String(contentsOfFile: place.serviceLog, encoding: .utf8)) ?? "").suffix(1500))
    }
}
