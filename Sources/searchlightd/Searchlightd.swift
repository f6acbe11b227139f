// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CStart
import CWipedMemory
import ConditionSensors
import ExtensionHost
import Foundation
import Glibc
import Protection
import SearchlightEngine
import SearchlightService
import SystemSupport

/// The service for one user.
@main
struct Searchlightd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "searchlightd",
        abstract: "Serve the index to apps, launchers and commands.",
        discussion: """
            Listens on the socket in the store's folder, or on the socket that systemd passes, until SIGTERM, SIGINT or \
            “searchlight service stop”. Runs extensions in the background while the user is not active (“searchlight why” and \
            “searchlight log” explain its decisions). Logs to standard error.
            """,
        version: BuildFacts.text(of: "searchlightd"))

    /// The entry point of the program, which calls the argument parser's own entry point.
    static func main() async {
        cstart_keep_little_memory()
        await main(nil)
    }

    @Option(
        help: ArgumentHelp(
            "Serve the index in this folder.",
            discussion: "Default: $SEARCHLIGHT_STORE, else searchlight/store in $XDG_DATA_HOME.", valueName: "dir"),
        completion: .directory)
    var store: String?

    @Option(
        name: .customLong("extensions"),
        help: ArgumentHelp(
            "Search these folders for extensions first; separate several with colons.",
            discussion: """
                Default: $SEARCHLIGHT_EXTENSION_PATH. searchlight/extensions in $XDG_DATA_HOME and in each of \
                $XDG_DATA_DIRS follow.
                """,
            valueName: "dir"),
        completion: .directory)
    var extensionPath: String?

    @Option(
        help: ArgumentHelp(
            "Exit after this many seconds without a client; 0 never exits.",
            discussion: "Default: 300 if systemd passes the socket, since it starts the service again; else 0.",
            valueName: "seconds"))
    var idleExit: Int?

    @Flag(name: .customLong("session-bus"), inversion: .prefixedNo, help: "Answer on the session bus, too.")
    var sessionBus = true

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store is empty. Name a folder, or leave the option out.") }
        if let extensionPath, extensionPath.allSatisfy({ $0 == ":" }) {
            throw ValidationError("--extensions is empty. Name a folder, or leave the option out.")
        }
        if let idleExit, !(0...31_536_000).contains(idleExit) {
            throw ValidationError("--idle-exit must be between 0 and 31536000 seconds.")
        }
    }

    func run() async throws {
        let status = await serve()
        throw ExitCode(status.rawValue)
    }

    private func serve() async -> ServiceExit {
        cstart_require_descriptors(UInt(CSTART_SERVICE_DESCRIPTORS))
        await Self.takeTimers()
        let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
        let log = ServiceLog(sink: StandardError(environment).write)
        var configuration = ServiceConfiguration(engine: engine(environment), log: log)
        do throws(ServiceSocketError) {
            configuration.inheritedSocket = try InheritedSocket.take(environment: environment)
        } catch {
            log.write(.error, error.description)
            return .usage
        }
        let manager = ServiceManager(environment: environment)
        configuration.notify = manager.notify
        configuration.watchdog = manager.watchdog
        configuration.sessionBus = sessionBus ? SessionBusAddress.find(in: environment) : nil
        configuration.lockBuses = (
            system: environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "unix:path=/var/run/dbus/system_bus_socket",
            session: SessionBusAddress.find(in: environment)
        )
        configuration.engine.keyring = configuration.lockBuses.session.map { SecretService(address: $0) }
        configuration.wipesMemory = {
            let code = cwipedmemory_begin()
            if code != 0 {
                log.write(
                    .warning,
                    "Core files of this process may contain protected items: \(String(cString: strerror(code))).")
            }
        }
        configuration.rests = true
        do throws(EventLoop.Failure) {
            let clock = try EventLoop().clock
            (configuration.clock, configuration.engine.worker.clock) = (clock, clock)
        } catch {
            log.write(.error, error.description)
            return .failure
        }
        if let session = AutogroupPriority() { configuration.setYielding = { session.setYielding($0) } }
        do throws(PolicyFile.Failure) {
            configuration.policy = try PolicyFile(environment: environment).policy()
        } catch {
            // The service starts with the default policy, which is better than not starting. The
            // log contains the error.
            log.write(.error, "\(error.description) The standard policy is used.")
        }
        let store = configuration.engine.storeDirectory
        configuration.conditions = { ownProcesses in
            ConditionMonitor(roots: .machine(environment: environment), store: store, ownProcesses: ownProcesses)
        }
        let idle = idleExit ?? (configuration.inheritedSocket == nil ? 0 : 300)
        configuration.idleExit = idle > 0 ? .seconds(idle) : nil
        // Installed before the socket exists, so that no client can ask the service to stop before
        // it handles signals.
        let signals = StopSignals()
        defer { signals.end() }
        configuration.isStopWanted = signals.isStopWanted
        do throws(ServiceStartError) {
            let service = try await Daemon(configuration)
            signals.onStop { service.requestStop() }
            switch await service.run() {
            case .stopped, .idle: return .success
            case .failed(let reason):
                log.write(.error, reason)
                return .failure
            }
        } catch {
            log.write(.error, error.description)
            if case .engine(.storeInUse) = error {
                let option = self.store.map { " --store \($0)" } ?? ""
                log.write(
                    .error, "To check whether that process is the service: searchlight service status\(option)")
            }
            return ServiceExit(error)
        }
    }

    /// Waits briefly on each clock, so that libdispatch creates its timer descriptors now. If it
    /// could not create them later because there are no descriptors left, a sleep would never end.
    private static func takeTimers() async {
        try? await Task.sleep(for: .nanoseconds(1), clock: .continuous)
        try? await Task.sleep(for: .nanoseconds(1), clock: .suspending)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(wallDeadline: .now()) { continuation.resume() }
        }
    }

    private func engine(_ environment: [String: String]) -> EngineConfiguration {
        let location = store.map { StoreLocation(folder: $0) } ?? StoreLocation(environment: environment)
        let explicit = (extensionPath ?? environment["SEARCHLIGHT_EXTENSION_PATH"]).map { path in
            path.split(separator: ":").map { StoreLocation(folder: String($0)).folder }.joined(separator: ":")
        }
        let installation = Installation(environment: environment)
        var configuration = EngineConfiguration(
            storeDirectory: location.folder, access: .readWrite,
            extensionSearchPath: ExtensionRegistry.standardSearchPath(explicit: explicit, environment: environment),
            worker: WorkerConfiguration(
                workerPath: installation.workerPath, frameworkFolder: installation.frameworkFolder,
                environment: environment))
        configuration.tracksExtensions = true
        configuration.bootClock = .system
        return configuration
    }
}

/// The exit statuses of the service. They match the command's statuses with the same meaning.
enum ServiceExit: Int32 {
    case success = 0
    case failure = 1
    case inputOutput = 8
    case usage = 64
    // 71 (EX_OSERR): a resource limit is too small to start the program (CStart).
    /// Another process holds the store's write lock (EX_TEMPFAIL).
    case storeInUse = 75

    init(_ error: ServiceStartError) {
        switch error {
        case .engine(.storeInUse): self = .storeInUse
        case .engine(.index(.full)), .engine(.index(.readOnly)), .engine(.index(.damaged)),
            .engine(.index(.storage)), .engine(.index(.untrusted)), .engine(.storeFile), .socket:
            self = .inputOutput
        case .engine: self = .failure
        }
    }
}
