// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine
import Synchronization

/// The shutdown of a service, and its notifications to systemd.
final class ServiceLife: Sendable {
    private enum State {
        case running
        case waiting(CheckedContinuation<Daemon.Ending, Never>)
        case ending(Daemon.Ending)
    }
    private struct Parts {
        weak var sessions: Sessions?
        weak var extensions: ExtensionKeeper?
        weak var files: FileKeeper?
        weak var schedule: ScheduleHandler?
        var maintenance: EngineMaintenance?
        var watchdog: ServiceWatchdog?
        var reclaimer: IdleReclaimer?
    }
    private let configuration: ServiceConfiguration
    private let state = Mutex(State.running)
    private let idleTimer = Mutex<Task<Void, Never>?>(nil)
    private let parts = Mutex(Parts())
    let activity: ServiceActivity

    init(_ configuration: ServiceConfiguration) {
        self.configuration = configuration
        let change = ChangeHandler()
        activity = ServiceActivity { change.call() }
        change.set { [weak self] in self?.activityChanged() }
    }

    var sessions: Sessions? { parts.withLock { $0.sessions } }
    var extensions: ExtensionKeeper? { parts.withLock { $0.extensions } }
    var files: FileKeeper? { parts.withLock { $0.files } }
    var schedule: ScheduleHandler? { parts.withLock { $0.schedule } }
    var maintenance: EngineMaintenance? { parts.withLock { $0.maintenance } }

    /// Ends the timers and the watchdog notifications.
    func stopTimers() {
        let (watchdog, reclaimer) = parts.withLock { ($0.watchdog, $0.reclaimer) }
        watchdog?.end()
        reclaimer?.end()
        idleTimer.withLock { $0?.cancel() }
    }

    func begin(
        _ core: ServiceCore, _ sessions: Sessions, _ extensions: ExtensionKeeper, _ files: FileKeeper,
        _ schedule: ScheduleHandler
    ) {
        let load: @Sendable () -> ServiceActivity.Load = { [activity] in activity.now }
        let watchdog = configuration.watchdog.map {
            ServiceWatchdog(limit: $0, clock: configuration.clock, notify: configuration.notify, activity: load) {
                // During a repair there is nothing to read; in that case it is sufficient that the
                // event loop responds.
                await core.holder.useNow { _ = try? await $0.generation() }
            }
        }
        let reclaimer =
            configuration.rests
            ? IdleReclaimer(clock: configuration.clock, activity: load) {
                _ = await core.holder.useNow { $0.releaseMemory() }
            } : nil
        parts.withLock {
            $0 = Parts(
                sessions: sessions, extensions: extensions, files: files, schedule: schedule,
                maintenance: EngineMaintenance(core, configuration.engine), watchdog: watchdog,
                reclaimer: reclaimer)
        }
    }

    /// Notifies systemd that the service is ready.
    ///
    /// - Parameter status: A status line for users.
    func becameReady(_ status: String) {
        let text = "READY=1\n\(ServiceWatchdog.disarming)\nSTATUS=\(status)"
        if let watchdog = parts.withLock({ $0.watchdog }) {
            watchdog.begin(saying: text)
        } else {
            configuration.notify(text)
        }
        activityChanged()
    }

    /// Called when the number of requests, connections or other activities becomes zero or
    /// non-zero.
    func activityChanged() {
        let (watchdog, reclaimer) = parts.withLock { ($0.watchdog, $0.reclaimer) }
        reclaimer?.update()
        watchdog?.update()
        if let limit = configuration.idleExit { updateIdleTimer(limit) }
    }

    /// Arms a timer while the service is idle, and disarms it otherwise.
    private func updateIdleTimer(_ limit: Duration) {
        idleTimer.withLock { timer in
            timer?.cancel()
            timer = nil
            guard activity.now.mayEnd else { return }
            timer = configuration.clock.timer(after: limit) { [weak self] in
                if self?.activity.now.mayEnd == true { self?.requestEnd(.idle) }
            }
        }
    }

    func requestEnd(_ ending: Daemon.Ending) {
        let waiting: CheckedContinuation<Daemon.Ending, Never>? = state.withLock { state in
            switch state {
            case .running:
                state = .ending(ending)
                return nil
            case .waiting(let continuation):
                state = .ending(ending)
                return continuation
            case .ending: return nil
            }
        }
        waiting?.resume(returning: ending)
    }

    /// Waits until the service should shut down. Call it once.
    func ending() async -> Daemon.Ending {
        await withCheckedContinuation { (continuation: CheckedContinuation<Daemon.Ending, Never>) in
            let known: Daemon.Ending? = state.withLock { state in
                if case .ending(let ending) = state { return ending }
                state = .waiting(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}

/// A handler that is set after the object that calls it was created.
private final class ChangeHandler: Sendable {
    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ handler: @escaping @Sendable () -> Void) { self.handler.withLock { $0 = handler } }

    func call() { handler.withLock { $0 }?() }
}
