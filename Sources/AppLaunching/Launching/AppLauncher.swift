// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// Executes launch plans: calls apps over the session bus and starts programs.
///
/// An app is started at most once per plan. A plan's command is used only if the bus reports that
/// it started nothing. A started program is reaped when it exits, even after ``launch(_:)`` has
/// returned. May be used from any task.
///
/// ```swift
/// let outcome = try await AppLauncher(environment: environment).launch(plan)
/// ```
package struct AppLauncher: Sendable {
    private let environment: [String: String]
    private let manager: UnitLauncher?
    private let limits: Limits
    private let clock: any Clock<Duration>

    /// The time limits for a launch.
    package struct Limits: Sendable {
        /// The time limit for the session bus to start an app, and for the app's answer.
        package var bus = Duration.seconds(20)
        /// The time limit for an app to fetch the activity for which it was started.
        package var activity = Duration.seconds(30)
        /// The time within which a program that exits is considered to have crashed at its start.
        package var start = Duration.milliseconds(400)

        package init() {}
    }

    /// The result of a launch.
    package struct Outcome: Hashable, Sendable, Codable {
        /// The kinds of success. Scripts rely on these names.
        package enum Kind: String, Sendable, Codable, CaseIterable {
            /// The app received the activity.
            case continued
            /// The app answered over the session bus.
            case activated
            /// The program is running.
            case started
            /// The program exited without an error, for example because it passed the item to a
            /// running app.
            case finished
        }
        /// The kind.
        package var kind: Kind
        /// The process ID of the started program; `nil` if the service manager started it.
        package var process: Int32?

        package init(kind: Kind, process: Int32? = nil) { (self.kind, self.process) = (kind, process) }
    }

    /// Creates a launcher.
    ///
    /// - Parameters:
    ///   - environment: The environment for started programs, with the session bus and the display.
    ///   - manager: The service manager that starts programs; `nil` if this process starts them.
    package init(
        environment: [String: String], manager: UnitLauncher? = nil, limits: Limits = Limits(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.environment, self.manager, self.limits, self.clock) = (environment, manager, limits, clock)
    }

    /// Starts or raises the app in a plan.
    ///
    /// - Parameter isTaken: For a plan that delivers an activity: waits until the app has fetched
    ///   it. Returns `false` if the app does not, or if the task is cancelled.
    /// - Throws: ``LaunchError``: `cannotStart`, `crashed`, `timedOut` or `cancelled`.
    package func launch(
        _ plan: LaunchPlan, isTaken: (@Sendable () async -> Bool)? = nil
    ) async throws(LaunchError) -> Outcome {
        if let start = plan.bus {
            switch await activate(start) {
            case .success:
                guard let isTaken else { return Outcome(kind: .activated) }
                guard await within(limits.activity, isTaken) else { throw Self.notTaken(plan) }
                return Outcome(kind: .continued)
            case .failure(let failure):
                guard plan.command != nil, failure.startedNothing else { throw failure.error(plan) }
            }
        }
        guard let command = plan.command else {
            throw LaunchError(
                .cannotStart, "Cannot start \(plan.app): its desktop entry has no command. Add Exec to it.")
        }
        return try await start(command, of: plan, isTaken)
    }

    /// Returns the error for an app that was started for an activity but did not fetch it.
    static func notTaken(_ plan: LaunchPlan) -> LaunchError {
        LaunchError(
            .timedOut,
            """
            \(plan.app) was started, but did not take the activity. Its manifest has CoreSpotlightContinuation, so \
            it must register a handler (NSUserActivity.setContinuationHandler) at its start.
            """)
    }

    /// Waits for a result up to a time limit; `false` after that.
    private func within(_ limit: Duration, _ body: @escaping @Sendable () async -> Bool) async -> Bool {
        await withTaskGroup(of: Bool.self) { [clock] group in
            group.addTask { await body() }
            group.addTask {
                try? await clock.sleep(for: limit)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }

    // MARK: D-Bus

    /// A failed activation.
    private struct ActivationFailure: Error {
        /// `true` if the bus started no program, so that another method may be tried.
        var startedNothing: Bool
        var kind: LaunchError.Kind
        var reason: String

        func error(_ plan: LaunchPlan) -> LaunchError {
            let place = plan.bus.map { " (\($0.name) on the session bus)" } ?? ""
            return LaunchError(kind, "Cannot open \(plan.app)\(place): \(reason)")
        }
    }

    private static let interface = "org.freedesktop.Application"
    private static let errorPrefix = "org.freedesktop.DBus.Error."
    /// The errors from a bus that has no app with that name, and from apps without the interface.
    private static let absences: Set<String> = [
        "ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownObject", "UnknownInterface",
        "Spawn.ServiceNotFound",
    ]
    /// The errors that mean that an app exited.
    private static let ends: Set<String> = [
        "NoReply", "Disconnected", "Spawn.ChildExited", "Spawn.ChildSignaled", "Spawn.Failed",
    ]
    private static let timeouts: Set<String> = ["TimedOut", "Timeout"]

    private func activate(_ start: LaunchPlan.BusStart) async -> Result<Void, ActivationFailure> {
        guard let address = SessionBusAddress.find(in: environment) else {
            return .failure(.init(startedNothing: true, kind: .cannotStart, reason: "there is no session bus."))
        }
        guard let path = MessageBus.objectPath(ofApplication: start.name) else {
            return .failure(
                .init(startedNothing: true, kind: .cannotStart, reason: "its name is not a valid bus name."))
        }
        do throws(BusError) {
            let bus = try MessageBus(address: address, name: "open") { call in
                call.refuse(name: BusErrorName.unknownMethod, message: "This program only opens apps.")
            } onDisconnect: { _ in
            }
            defer { bus.close() }
            let member = start.uris.isEmpty ? "Activate" : "Open"
            let arguments: [BusValue] = (start.uris.isEmpty ? [] : [.strings(start.uris)]) + [.dictionary(platformData)]
            let call = Activation(
                bus: bus, name: start.name, path: path, member: BusMember(Self.interface, member), arguments: arguments)
            let asking = Task { await call.run() }
            let timer = Task { [clock, limits] in
                guard (try? await clock.sleep(for: limits.bus)) != nil else { return }
                asking.cancel()
            }
            defer { timer.cancel() }
            let failure = await withTaskCancellationHandler {
                await asking.value
            } onCancel: {
                asking.cancel()
            }
            return failure.map { .failure(self.failure($0.error, hasStarted: $0.hasStarted)) } ?? .success(())
        } catch {
            return .failure(failure(error, hasStarted: false))
        }
    }

    /// The calls in one activation.
    private struct Activation: Sendable {
        let bus: MessageBus
        let name: String
        let path: String
        let member: BusMember
        let arguments: [BusValue]

        /// Starts the app unless it is running, and calls it. Returns the error, and whether the
        /// bus had started the app before it.
        func run() async -> (error: BusError, hasStarted: Bool)? {
            var hasStarted = false
            do throws(BusError) {
                let owner: String
                if let running = try await runningOwner() {
                    owner = running
                } else {
                    try await bus.startService(name)
                    hasStarted = true
                    owner = try await bus.owner(of: name)
                }
                _ = try await bus.call(owner, path: path, member, arguments)
                return nil
            } catch {
                return (error, hasStarted)
            }
        }

        private func runningOwner() async throws(BusError) -> String? {
            do throws(BusError) { return try await bus.owner(of: name) } catch {
                guard case .remote = error else { throw error }
                return nil
            }
        }
    }

    private func failure(_ error: BusError, hasStarted: Bool) -> ActivationFailure {
        switch error {
        case .remote(let name, let message):
            let short = name.hasPrefix(Self.errorPrefix) ? String(name.dropFirst(Self.errorPrefix.count)) : ""
            let kind: LaunchError.Kind =
                Self.ends.contains(short) || hasStarted && Self.absences.contains(short)
                ? .crashed
                : Self.timeouts.contains(short) ? .timedOut : .cannotStart
            return .init(
                startedNothing: !hasStarted && Self.absences.contains(short), kind: kind,
                reason: String(message.prefix(500)))
        case .cancelled where Task.isCancelled:
            return .init(startedNothing: false, kind: .cancelled, reason: "the request was cancelled.")
        case .cancelled:
            return .init(startedNothing: false, kind: .timedOut, reason: "it did not answer within \(limits.bus).")
        case .disconnected, .malformed, .system:
            return .init(startedNothing: !hasStarted, kind: .cannotStart, reason: error.description)
        }
    }

    /// The calling desktop's startup notification, under the names of both protocols.
    private var platformData: [String: BusValue] {
        guard let token = environment["XDG_ACTIVATION_TOKEN"] ?? environment["DESKTOP_STARTUP_ID"],
            token.utf8.count <= 1024
        else { return [:] }
        return ["activation-token": .string(token), "desktop-startup-id": .string(token)]
    }

    // MARK: Programs

    private func start(
        _ command: LaunchPlan.Command, of plan: LaunchPlan, _ isTaken: (@Sendable () async -> Bool)?
    ) async throws(LaunchError) -> Outcome {
        let folder = command.folder ?? environment["HOME"] ?? "/"
        let words = manager?.commandLine(of: command, folder: folder) ?? command.words
        let program: StartedProgram
        do throws(StartedProgram.Failure) {
            program = try StartedProgram(
                manager?.program ?? command.program, words, folder: folder, environment: environment)
        } catch {
            throw LaunchError(.cannotStart, "Cannot start \(plan.app) (\(command.program)): \(error.reason).")
        }
        if let isTaken { return try await outcome(of: program, command, plan, isTaken) }
        guard let ending = await program.end(within: limits.start, clock) else {
            return Outcome(kind: .started, process: manager == nil ? program.process : nil)
        }
        guard ending == .exited(0) else { throw Self.crash(ending, command, plan) }
        return Outcome(kind: .finished)
    }

    /// Waits until the app has fetched its activity or exits with an error, whichever comes first.
    private func outcome(
        of program: StartedProgram, _ command: LaunchPlan.Command, _ plan: LaunchPlan,
        _ isTaken: @escaping @Sendable () async -> Bool
    ) async throws(LaunchError) -> Outcome {
        enum Event: Sendable {
            case taken(Bool)
            case ended(StartedProgram.Ending?)
        }
        let process = manager == nil ? program.process : nil
        let result: Result<Outcome, LaunchError> = await withTaskGroup(of: Event.self) { [clock, limits] group in
            defer { group.cancelAll() }
            group.addTask { .taken(await self.within(limits.activity, isTaken)) }
            group.addTask { .ended(await program.end(within: limits.activity, clock)) }
            while let event = await group.next() {
                switch event {
                case .taken(true): return .success(Outcome(kind: .continued, process: process))
                case .taken(false): return .failure(Self.notTaken(plan))
                // A program that hands over to a running app exits without an error.
                case .ended(nil), .ended(.exited(0)): continue
                case .ended(let ending?): return .failure(Self.crash(ending, command, plan))
                }
            }
            return .failure(Self.notTaken(plan))
        }
        return try result.get()
    }

    private static func crash(
        _ ending: StartedProgram.Ending, _ command: LaunchPlan.Command, _ plan: LaunchPlan
    ) -> LaunchError {
        let end =
            switch ending {
            case .exited(let status): "with status \(status)"
            case .killed(let signal): "by signal \(signal)"
            }
        let line = ([command.program] + command.words.dropFirst()).map(\.shellWord).joined(separator: " ")
        return LaunchError(.crashed, "\(plan.app) ended at its start \(end). To see why, run: \(line)")
    }
}
