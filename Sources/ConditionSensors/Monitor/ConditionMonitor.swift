// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import IdleScheduling
import Synchronization

/// Monitors the machine's conditions. Owns all sensors and combines their readings. This type is
/// the best starting point for reading this module.
///
/// | | `off` | `waiting` | `running` |
/// |---|---|---|---|
/// | buses (`Bus/`) | not connected | followed, with one sleeping thread for each | the same |
/// | files (`Files/`) | – | read at each ``look()`` | also read twice a second |
/// | pressure triggers | – | – | polled (``RunningWatch``) |
///
/// Any sensor may be absent or fail. Its conditions are then unknown, and ``report()`` states the
/// reason. Files are read on a separate thread (``SensorPoller``) and bus replies arrive
/// asynchronously, so no sensor delays another. All methods may be called from any thread.
public final class ConditionMonitor: ConditionSource {
    private struct State {
        var mode = SchedulerAction.Sensing.off
        var system: SensorConnection?
        var session: SensorConnection?
        var watch: RunningWatch?
    }
    private let state = Mutex(State())
    private let desk = SensorHub()
    private let roots: SensorRoots
    private let patience: Int
    private let lookout: SensorPoller
    private let sleepClock: SleepClockSensor
    private let pressure: PressureSensor

    /// The delay, in seconds, before a check reconnects to a bus whose connection ended.
    private static let retryPause = 30.0

    /// Creates a monitor in mode `off`.
    ///
    /// - Parameters:
    ///   - roots: The sensors' paths, buses and clocks.
    ///   - store: A folder on the disk whose free space is reported.
    ///   - ownProcesses: Returns the processes whose load belongs to Searchlight, in addition to
    ///     this process and its terminated children. Called on another thread; must not block.
    public convenience init(
        roots: SensorRoots, store: String, ownProcesses: @escaping @Sendable () -> [pid_t] = { [] }
    ) {
        let files: [any FileSensor] = [
            PressureSensor(roots: roots), LoadSensor(roots: roots, ownProcesses: ownProcesses),
            TerminalSensor(roots: roots), PlatformProfileSensor(roots: roots), PowerSupplySensor(roots: roots),
            // Sensors with slow drivers or networks come last.
            ThermalSensor(roots: roots), DiskSensor(path: store),
        ]
        self.init(roots: roots, files: files)
    }

    init(roots: SensorRoots, files: [any FileSensor], patience: Int = SensorPoller.patience) {
        (self.roots, self.patience) = (roots, patience)
        sleepClock = SleepClockSensor(roots: roots)
        pressure = PressureSensor(roots: roots)
        lookout = SensorPoller([sleepClock] + files, threadName: roots.threadName + "-look") { [desk] sensor, reading in
            desk.take(sensor, reading.state, reading.apply)
        } tell: { [desk] in
            desk.tell()
        }
    }

    deinit { sense(.off) }

    /// Sets the handler for changes; see ``ConditionSource``.
    public func start(onChange: @escaping @Sendable (Conditions) -> Void) { desk.setHandler(onChange) }

    /// Sets the sensing mode. A call to the change handler may still be in progress after `off`.
    public func sense(_ mode: SchedulerAction.Sensing) {
        // Keeps ended connections alive, so that they are released outside the lock.
        var ended: [SensorConnection?] = []
        var watch: RunningWatch?
        holding { state in
            guard mode != state.mode else { return }
            let old = state.mode
            state.mode = mode
            if mode != .running {
                watch = state.watch
                state.watch = nil
            }
            if mode == .off {
                ended = [state.system, state.session]
                (state.system, state.session) = (nil, nil)
                for link in ended { link?.close() }
                desk.close()
            } else if old == .off {
                sleepClock.begin()
                desk.open()
                connect(&state)
            }
            for link in [state.system, state.session] { link?.sense(running: mode == .running) }
            if mode == .running { state.watch = makeWatch() }
        }
        if watch != nil { desk.note(.pressureTriggers, .resting) }
    }

    /// Reads all sensors that do not report changes, in every mode. Takes less than a millisecond,
    /// and at most 50 ms with broken drivers or unresponsive services.
    @discardableResult
    public func look() -> Conditions {
        let deadline = DispatchTime.now() + .milliseconds(patience)
        let links = holding { state in
            if state.mode != .off { connect(&state) }
            return [state.system, state.session]
        }
        lookout.look(until: deadline)
        for link in links { link?.look(until: deadline) }
        return desk.conditions
    }

    /// Returns the state of each sensor, and the reason if it is not in use.
    public func report() -> MonitorReport { desk.report(state.withLock { $0.mode }) }

    /// Changes the sensing state under the lock. Changed conditions are reported after the lock is
    /// released, because the handler may need it.
    private func holding<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        desk.holding { state.withLock(body) }
    }

    /// Connects to each bus that has no connection.
    private func connect(_ state: inout State) {
        func link(_ old: SensorConnection?, _ address: String?, _ name: String, _ kinds: [SensorConnection.Kind])
            -> SensorConnection?
        {
            guard let address else {
                for kind in kinds { desk.note(kind.sensor, .absent("There is no \(name) bus."), way: kind.way) }
                return nil
            }
            if let old, !old.hasEnded || roots.elapsed() - old.begun < Self.retryPause { return old }
            let link = SensorConnection(
                address, threadName: "\(roots.threadName)-\(name.prefix(4))", kinds, desk, roots)
            link?.sense(running: state.mode == .running)
            return link
        }
        state.system = link(state.system, roots.systemBus, "system", [LogindSensor.kind] + PowerPlans.kinds)
        state.session = link(
            state.session, roots.sessionBus, "session", [CompositorSensor.kind] + ScreenSaverSensor.kinds)
    }

    private func makeWatch() -> RunningWatch? {
        let actions = RunningWatch.Actions(
            tick: { [weak self] in self?.look() },
            pressure: { [desk, pressure] in desk.update(pressure.read().apply) },
            note: { [desk] in desk.note(.pressureTriggers, $0) })
        guard let watch = RunningWatch(roots: roots, actions: actions) else {
            desk.note(.pressureTriggers, .failed("The thread for pressure events could not be started."))
            return nil
        }
        return watch
    }
}
