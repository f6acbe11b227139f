// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Glibc
import SearchlightEngine
import Synchronization
import SystemSupport

/// A running service: one engine, and those who are connected to it.
///
/// May be used from any thread.
package final class Daemon: Sendable {
    /// Why a service ended.
    package enum Ending: Sendable, Hashable {
        /// It was asked to.
        case stopped
        /// Nobody needed it.
        case idle
        /// Its socket cannot be listened on any more.
        case failed(String)
    }

    private let configuration: ServiceConfiguration
    private let core: ServiceCore
    private let sessions: Sessions
    private let bus: SessionBus
    private let extensions: ExtensionKeeper
    private let files: FileKeeper
    private let schedule: ScheduleHandler
    private let joining = Mutex<Task<Void, Never>?>(nil)
    private let listener = Mutex<Listener?>(nil)
    private let life: ServiceLife
    private let started = ContinuousClock.now

    private var folder: String { configuration.engine.storeDirectory }

    /// Opens the engine, and listens.
    ///
    /// - Throws: ``ServiceStartError``; then nothing is left behind.
    package init(_ configuration: ServiceConfiguration) async throws(ServiceStartError) {
        self.configuration = configuration
        let life = ServiceLife(configuration)
        self.life = life
        let events = EventLog(configuration.log)
        var engine = configuration.engine
        engine.onWork = { life.activity.beginRequest(of: .service) }
        engine.policy = configuration.policy
        let holder = try await Self.waitingForStore(configuration) { [engine] () throws(EngineError) in
            try EngineHolder(
                configuration.limits, clock: configuration.clock,
                opening: { () throws(EngineError) in try SearchlightEngine(engine) { events.write($0) } },
                onDrain: { life.schedule?.giveWay() },
                onClose: {
                    life.sessions?.part()
                    life.files?.part()
                },
                onReopen: {
                    life.sessions?.rejoin($0)
                    life.extensions?.take($0)
                    life.files?.take($0)
                    life.schedule?.take($0)
                },
                onStay: {
                    life.sessions?.rejoin($0)
                    life.schedule?.take($0)
                })
        }
        let flow = FlowControl(limit: configuration.limits.heldBytes)
        let core = ServiceCore(
            holder: holder, limits: configuration.limits, log: configuration.log, clock: configuration.clock,
            user: configuration.user, version: configuration.version, activity: life.activity,
            flow: flow,
            control: ServiceControl(
                facts: { [started] in
                    ServiceFacts(
                        processIdentifier: getpid(), version: configuration.version,
                        uptime: (ContinuousClock.now - started) / .seconds(1),
                        clients: life.activity.now.connections + life.activity.now.senders, donations: flow.flow,
                        followed: life.files?.followed)
                },
                stop: { life.requestEnd(.stopped) }, schedule: { life.schedule }, maintenance: { life.maintenance }))
        self.core = core
        sessions = Sessions(core)
        bus = SessionBus(core, sessions)
        let files = FileKeeper(core)
        self.files = files
        extensions = ExtensionKeeper(core, configuration.engine, quiet: configuration.extensionQuiet) { [weak files] in
            files?.lookAgain()
        }
        // Before the first job, which may be a reindex of everything.
        if configuration.engine.tracksExtensions, let engine = holder.current { files.take(engine) }
        schedule = ScheduleHandler(
            core, configuration, configuration.conditions { [holder] in holder.inUse?.workerProcesses ?? [] })
        life.begin(core, sessions, extensions, files, schedule)
        note(holder)
        do throws(ServiceSocketError) {
            try listen()
        } catch {
            await schedule.end()
            _ = await holder.stop()
            throw .socket(error)
        }
        configuration.log.write(.notice, "Listening on \(socketPath).")
        life.becameReady("Listening on \(socketPath).")
        if configuration.engine.tracksExtensions {
            extensions.begin()
        }
        // Not waited for: a bus that does not answer keeps nobody from the socket.
        if let address = configuration.sessionBus {
            joining.withLock { $0 = Task { [bus] in await bus.join(address) } }
        }
    }

    /// Opens the engine. A service that was started through its socket waits for a store that a command has, for a bounded time:
    /// the manager would start it again at once, and give it and the socket up after a few times.
    private static func waitingForStore(
        _ configuration: ServiceConfiguration, _ opening: () throws(EngineError) -> EngineHolder
    ) async throws(ServiceStartError) -> EngineHolder {
        let pause = Duration.milliseconds(200)
        var waited = Duration.zero
        while true {
            do throws(EngineError) { return try opening() } catch {
                guard case .storeInUse = error, configuration.inheritedSocket != nil,
                    waited < configuration.limits.startTime, !configuration.isStopWanted()
                else { throw .engine(error) }
                if waited == .zero {
                    configuration.log.write(.notice, "Waiting for the store. \(error.description)")
                    configuration.notify("STATUS=Waiting for a store that is in use.")
                }
            }
            try? await configuration.clock.sleep(for: pause)
            waited += pause
        }
    }

    /// Where clients find it.
    package var socketPath: String { StoreLocation(folder: folder).socketPath }

    /// The most bytes of donations that were held at once; for tests of the bounds.
    package var peakHeldBytes: Int { core.flow.peak }
    /// What is in flight, and at which bounds donations wait.
    package var flow: DonationFlow { core.flow.flow }
    /// How many bytes of donations are held now.
    package var heldBytes: Int { core.flow.held }
    /// How many sessions there are.
    package var sessionCount: Int { sessions.count }
    /// The one engine; for tests of repairs.
    var holder: EngineHolder { core.holder }
    /// The engine, while it is open.
    package var engine: SearchlightEngine? { core.holder.current }
    var load: ServiceActivity.Load { core.activity.now }
    package var watchedDirectories: Int { extensions.watchedDirectories }
    /// What is done in the background.
    package var scheduling: any ScheduleService { schedule }
    package var senderCount: Int { bus.senderCount }

    private func listen() throws(ServiceSocketError) {
        let socket =
            if let inherited = configuration.inheritedSocket { inherited } else {
                try ServiceSocket.listen(inFolder: folder)
            }
        let listener = try Listener(
            adopting: socket, name: "listener",
            onTrouble: { [core, life] trouble in
                core.log.write(.error, core.strangers, trouble.description)
                if case .failed = trouble { life.requestEnd(.failed(trouble.description)) }
            },
            onConnection: { [core, sessions, configuration] socket in
                do throws(PeerIdentityError) {
                    sessions.accept(socket, try configuration.identify(socket))
                } catch {
                    core.log.write(.warning, core.strangers, "Closed a connection. \(error.description)")
                }
            })
        self.listener.withLock { $0 = listener }
    }

    private func note(_ holder: EngineHolder) {
        guard let engine = holder.current else { return }
        for finding in engine.recovery.findings { configuration.log.write(.warning, finding) }
        let owed = engine.owedJobs.map(\.bundle)
        guard !owed.isEmpty else { return }
        configuration.log.write(
            .notice,
            "A reindex is owed of \(owed.prefix(20).joined(separator: ", "))\(owed.count > 20 ? " and others" : "").")
    }

    /// Asks the service to end; ``run()`` does it.
    package func requestStop() { life.requestEnd(.stopped) }

    /// Waits until the service is to end, and ends it.
    package func run() async -> Ending {
        let ending = await life.ending()
        await end(ending)
        return ending
    }

    /// Takes nobody any more, lets what is under way end for a bounded time, and gives the store back.
    private func end(_ ending: Ending) async {
        life.stopTimers()
        configuration.notify("STOPPING=1\nSTATUS=Ending what is under way.")
        listener.withLock { listener in
            listener?.close()
            listener = nil
        }
        if configuration.inheritedSocket == nil {
            do throws(ServiceSocketError) { try ServiceSocket.remove(inFolder: folder) } catch {
                configuration.log.write(.warning, error.description)
            }
        }
        await bus.releaseName()
        extensions.end()
        files.end()
        await schedule.end()
        core.background.cancelAll()
        let isDone = await core.holder.stop()
        if !isDone {
            configuration.log.write(
                .warning, "Requests that were not done within \(configuration.limits.stopTime) were given up.")
        }
        await sessions.closeAll()
        bus.leave()
        await joining.withLock { $0 }?.value
        configuration.log.write(.notice, "Ended\(ending == .idle ? ", since nobody needed the service" : "").")
    }
}

/// Why a service could not start.
package enum ServiceStartError: Error, Sendable, CustomStringConvertible {
    /// Its store cannot be opened.
    case engine(EngineError)
    /// It cannot listen.
    case socket(ServiceSocketError)

    package var description: String {
        switch self {
        case .engine(let error): error.description
        case .socket(let error): error.description
        }
    }
}
