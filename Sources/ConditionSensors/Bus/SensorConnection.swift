// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import Glibc
import Synchronization

/// A sensor that follows a service on a bus. Its methods are called from any thread.
protocol BusSensor: AnyObject, Sendable {
    /// Starts following the service.
    func begin()
    /// Reads values whose changes are not reported. The reply arrives as a change.
    func look()
    /// Switches to close sensing while a job runs, or back.
    func sense(running: Bool)
}

extension BusSensor {
    func look() {}
    func sense(running: Bool) {}
}

/// One sensor's subscription on a bus connection. Its updates are ignored after the connection has
/// ended.
final class SensorSubscription: Sendable {
    let roots: SensorRoots
    let bus: MessageBus
    let sensor: Sensor
    /// A name that distinguishes several sources for the same sensor; otherwise empty.
    let way: String
    private let desk: SensorHub
    private let link: SensorConnection.Life

    init(
        _ sensor: Sensor, way: String = "", _ bus: MessageBus, _ desk: SensorHub, _ roots: SensorRoots,
        _ link: SensorConnection.Life
    ) {
        (self.sensor, self.way, self.bus, self.desk, self.roots, self.link) = (sensor, way, bus, desk, roots, link)
        link.settling.enter()
    }

    /// Publishes the sensor's readings and state.
    func publish(_ state: MonitorReport.State, _ change: (inout Readings) -> Void) {
        desk.update(sensor, state, way: way, if: { link.isLive }, change)
        settle()
    }

    private let isSettled = Mutex(false)

    /// Records that the sensor has published its first readings, or never will.
    func settle() {
        let isFirst = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return !isSettled
        }
        if isFirst { link.settling.leave() }
    }
}

/// A bus connection with all its sensors.
final class SensorConnection: Sendable {
    /// The life cycle of the connection, as its sensors see it.
    final class Life: Sendable {
        /// A group that each sensor stays in until its first readings.
        let settling = DispatchGroup()
        private enum Stage { case live, ending, over }
        private struct State {
            var stage = Stage.live
            var seats: [SensorSubscription] = []
        }
        private let state = Mutex(State())
        /// `true` while the sensors' updates are accepted.
        var isLive: Bool { state.withLock { $0.stage == .live } }
        /// `true` while the connection is ending on its own. Only the reason for the end is then
        /// accepted.
        var isEnding: Bool { state.withLock { $0.stage == .ending } }
        /// `true` after the end, when updates are no longer accepted.
        var isOver: Bool { state.withLock { $0.stage == .over } }

        func add(_ new: [SensorSubscription]) {
            let isLive = state.withLock { state in
                if state.stage == .live { state.seats = new }
                return state.stage == .live
            }
            if !isLive { for seat in new { seat.settle() } }
        }

        /// Marks the connection as ending on its own. Later sensor updates are ignored, so that
        /// they cannot replace the reason for the end.
        func beginEnd() { state.withLock { if $0.stage == .live { $0.stage = .ending } } }

        /// Marks the connection as ended, and releases all waiting callers.
        func end() {
            let old = state.withLock { state in
                defer { state = State(stage: .over) }
                return state.seats
            }
            for seat in old { seat.settle() }
        }
    }
    /// The description of a sensor: its source name, its initializer, and how its readings are
    /// removed.
    struct Kind: Sendable {
        var sensor: Sensor
        var way = ""
        var make: @Sendable (SensorSubscription) -> any BusSensor
        var forget: @Sendable (inout Readings) -> Void
    }

    private let bus: MessageBus
    private let life: Life
    private let sensors: [any BusSensor]
    private let elapsed: @Sendable () -> Double
    /// The time, in seconds after connecting, during which a check waits for the first replies. A
    /// service that has not replied by then may never reply.
    private static let beginning = 1.0
    /// The time of the connection attempt, in seconds since the machine started.
    let begun: Double

    /// Connects to the bus. The report contains the result.
    init?(_ address: String, threadName: String, _ kinds: [Kind], _ desk: SensorHub, _ roots: SensorRoots) {
        let life = Life()
        self.life = life
        elapsed = roots.elapsed
        begun = roots.elapsed()
        for kind in kinds { desk.note(kind.sensor, .failed("It has not answered yet."), way: kind.way) }
        let ended: @Sendable (BusEnd) -> Void = { end in
            let state = Self.state(of: end, address)
            life.beginEnd()
            for kind in kinds {
                desk.update(kind.sensor, state, way: kind.way, if: { life.isEnding }, kind.forget)
            }
            life.end()
        }
        let connection: MessageBus
        do throws(BusError) {
            connection = try MessageBus(address: address, name: threadName, onCall: Self.refuse, onDisconnect: ended)
        } catch {
            for kind in kinds { desk.note(kind.sensor, .failed(error.description), way: kind.way) }
            return nil
        }
        bus = connection
        let made = kinds.map { SensorSubscription($0.sensor, way: $0.way, connection, desk, roots, life) }
        sensors = zip(kinds, made).map { kind, seat in kind.make(seat) }
        life.add(made)
        for sensor in sensors { sensor.begin() }
    }

    /// Rejects all incoming calls immediately, because the connection offers no objects.
    private static func refuse(_ call: IncomingCall) {
        call.refuse(name: BusErrorName.unknownMethod, message: "This connection serves no calls.")
    }

    private static func state(of end: BusEnd, _ address: String) -> MonitorReport.State {
        switch end {
        case .system(_, ENOENT), .system(_, ECONNREFUSED), .system(_, ENOTDIR):
            .absent("There is no bus at \(address).")
        case let end: .failed("The bus at \(address) cannot be used. \(end)")
        }
    }

    var hasEnded: Bool { life.isOver }

    /// Reads all sensors. Shortly after connecting, also waits until each has published its first
    /// readings.
    func look(until deadline: DispatchTime) {
        for sensor in sensors { sensor.look() }
        guard elapsed() - begun < Self.beginning else { return }
        _ = life.settling.wait(timeout: deadline)
    }

    /// Sets the sensing mode of all sensors.
    func sense(running: Bool) { for sensor in sensors { sensor.sense(running: running) } }

    /// Ends the connection. No updates follow.
    func close() {
        life.end()
        bus.close()
    }

    deinit { close() }
}
