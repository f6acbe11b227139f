// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import IdleScheduling
import Synchronization

/// Watches what the machine is like: owns all sensors and puts together what they find. The page to read.
///
/// | | `off` | `waiting` | `running` |
/// |---|---|---|---|
/// | buses (`Bus/`) | not connected | heard, one thread for each, which sleeps | the same |
/// | files (`Files/`) | – | read at each ``look()`` | and twice a second |
/// | notices of pressure | – | – | heard (``RunningWatch``) |
///
/// Any sensor may be missing or broken: its part of the conditions is not known then, and ``report()`` says why. Files are
/// read on a thread of their own (``Lookout``), buses answer when they do, so none holds up another. All methods may be
/// called from any thread.
public final class ConditionMonitor: ConditionSource {
    private struct State {
        var mode = SchedulerAction.Sensing.off
        var system: SensorConnection?
        var session: SensorConnection?
        var watch: RunningWatch?
    }
    private let state = Mutex(State())
    private let desk = SensorDesk()
    private let roots: SensorRoots
    private let patience: Int
    private let lookout: Lookout
    private let sleepClock: SleepClockSensor
    private let pressure: PressureSensor

    /// After how many seconds a bus that ended is tried again, at a look.
    private static let retryPause = 30.0

    /// Creates a monitor that is off.
    ///
    /// - Parameters:
    ///   - roots: Where to look.
    ///   - store: A folder on the disk whose free room matters.
    ///   - ownProcesses: The processes whose use of processors is Searchlight's own, besides this one and its children that
    ///     ended. Called on another thread; must not block.
    public convenience init(
        roots: SensorRoots, store: String, ownProcesses: @escaping @Sendable () -> [pid_t] = { [] }
    ) {
        let files: [any FileSensor] = [
            PressureSensor(roots: roots), LoadSensor(roots: roots, ownProcesses: ownProcesses),
            TerminalSensor(roots: roots), PlatformProfileSensor(roots: roots), PowerSupplySensor(roots: roots),
            // Those of slow drivers and networks last.
            ThermalSensor(roots: roots), DiskSensor(path: store),
        ]
        self.init(roots: roots, files: files)
    }

    init(roots: SensorRoots, files: [any FileSensor], patience: Int = Lookout.patience) {
        (self.roots, self.patience) = (roots, patience)
        sleepClock = SleepClockSensor(roots: roots)
        pressure = PressureSensor(roots: roots)
        lookout = Lookout([sleepClock] + files, threadName: roots.threadName + "-look") { [desk] sensor, reading in
            desk.take(sensor, reading.state, reading.apply)
        } tell: { [desk] in
            desk.tell()
        }
    }

    deinit { sense(.off) }

    /// Says who is told of changes; see ``ConditionSource``.
    public func start(onChange: @escaping @Sendable (Conditions) -> Void) { desk.setHandler(onChange) }

    /// Sets how closely the machine is watched. A call to whoever is told may still be under way after `off`.
    public func sense(_ mode: SchedulerAction.Sensing) {
        // What ends does so outside of the lock, with these.
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

    /// Reads at once what cannot tell by itself, in every mode. Takes less than a millisecond, and with broken drivers or
    /// silent programs at most 50.
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

    /// Which sensors are in use, and why others are not.
    public func report() -> MonitorReport { desk.report(state.withLock { $0.mode }) }

    /// Changes what is watched. What sensors find thereby is told when the lock is free, since whoever is told may want it.
    private func holding<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        desk.holding { state.withLock(body) }
    }

    /// Connects to the buses to which there is no connection.
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
            desk.note(.pressureTriggers, .failed("The thread that hears of pressure could not be started."))
            return nil
        }
        return watch
    }
}
