// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Glibc
import SearchlightEngine
import Synchronization
import SystemSupport

/// A running service: one engine and its connected clients.
///
/// May be used from any thread.
package final class Daemon: Sendable {
    /// The reason why the service exited.
    package enum Ending: Sendable, Hashable {
        /// A client or a signal requested the shutdown.
        case stopped
        /// The service was idle for too long.
        case idle
        /// The listening socket failed.
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

    /// Opens the engine and listens on the socket.
    ///
    /// - Throws: ``ServiceStartError``; in that case nothing is left behind.
    package init(_ configuration: ServiceConfiguration) async throws(ServiceStartError) {
        self.configuration = configuration
        let life = ServiceLife(configuration)
        self.life = life
        let events = EventLog(configuration.log)
        var engine = configuration.engine
        engine.onWork = { life.activity.beginRequest(of: .service) }
        engine.policy = configuration.policy
        engine.onUnlock = {
            [activity = life.activity, buses = configuration.lockBuses, user = configuration.user] in
            await UnlockedSession.begin(
                UnlockedSession.Buses(system: buses.system, session: buses.session), user: user, ContinuousClock(),
                activity.beginSender(), onLock: $0)
        }
        engine.onSecrets = configuration.wipesMemory
        engine.readsDamagedStore = true
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
        let activities = ActivityHandlers(clock: configuration.clock, activity: life.activity)
        let core = ServiceCore(
            holder: holder, limits: configuration.limits, log: configuration.log, clock: configuration.clock,
            user: configuration.user, version: configuration.version, activity: life.activity,
            activities: activities, flow: flow,
            control: ServiceControl(
                facts: { [started] in
                    ServiceFacts(
                        processIdentifier: getpid(), version: configuration.version,
                        uptime: (ContinuousClock.now - started) / .seconds(1),
                        clients: life.activity.now.connections + life.activity.now.senders, donations: flow.flow,
                        followed: life.files?.followed, protectionNotes: holder.current?.protectionNotes ?? [])
                },
                stop: { life.requestEnd(.stopped) }, schedule: { life.schedule }, maintenance: { life.maintenance },
                activities: { activities }))
        self.core = core
        sessions = Sessions(core)
        bus = SessionBus(core, sessions)
        let files = FileKeeper(core)
        self.files = files
        extensions = ExtensionKeeper(core, configuration.engine, quiet: configuration.extensionQuiet) { [weak files] in
            files?.lookAgain()
        }
        // The followed files must be known before the first job, which may be a reindex of
        // everything.
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
        // Runs in a separate task, so that an unresponsive bus does not delay the socket.
        if let address = configuration.sessionBus {
            joining.withLock { $0 = Task { [bus] in await bus.join(address) } }
        }
    }

    /// Opens the engine. While a command holds the store, a socket-activated service waits for a
    /// limited time. If it failed instead, systemd would restart it immediately, and would disable
    /// the unit and its socket after a few failures.
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

    /// The path of the socket for clients.
    package var socketPath: String { StoreLocation(folder: folder).socketPath }

    /// The highest value of ``heldBytes`` so far; for tests of the limits.
    package var peakHeldBytes: Int { core.flow.peak }
    /// The donations in flight, and the limits that they wait for.
    package var flow: DonationFlow { core.flow.flow }
    /// The size of the donations in flight, in bytes.
    package var heldBytes: Int { core.flow.held }
    /// The number of sessions.
    package var sessionCount: Int { sessions.count }
    /// The holder of the engine; for tests of repairs.
    var holder: EngineHolder { core.holder }
    /// The engine, while it is open.
    package var engine: SearchlightEngine? { core.holder.current }
    var load: ServiceActivity.Load { core.activity.now }
    package var watchedDirectories: Int { extensions.watchedDirectories }
    /// The controls for background work.
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
        if let refusal = holder.refusal { configuration.log.write(.error, refusal.description) }
        guard let engine = holder.current else { return }
        for finding in engine.recovery.findings { configuration.log.write(.warning, finding) }
        let owed = engine.owedJobs.map(\.bundle)
        guard !owed.isEmpty else { return }
        configuration.log.write(
            .notice,
            "A reindex is pending for \(owed.prefix(20).joined(separator: ", "))\(owed.count > 20 ? " and others" : "")."
        )
    }

    /// Requests the shutdown of the service; ``run()`` performs it.
    package func requestStop() { life.requestEnd(.stopped) }

    /// Waits until the service should shut down, and shuts it down.
    package func run() async -> Ending {
        let ending = await life.ending()
        await end(ending)
        return ending
    }

    /// Accepts no further clients, lets work in progress finish within a time limit, and closes the
    /// store.
    private func end(_ ending: Ending) async {
        life.stopTimers()
        configuration.notify("STOPPING=1\nSTATUS=Finishing requests in progress.")
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
                .warning, "Requests that did not end within \(configuration.limits.stopTime) were cancelled.")
        }
        await sessions.closeAll()
        bus.leave()
        await joining.withLock { $0 }?.value
        configuration.log.write(.notice, "Ended\(ending == .idle ? ", because no client was connected" : "").")
    }
}

/// An error that prevents a service from starting.
package enum ServiceStartError: Error, Sendable, CustomStringConvertible {
    /// The store cannot be opened.
    case engine(EngineError)
    /// The socket cannot be opened.
    case socket(ServiceSocketError)

    package var description: String {
        switch self {
        case .engine(let error): error.description
        case .socket(let error): error.description
        }
    }
}
