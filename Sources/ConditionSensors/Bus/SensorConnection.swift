// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import Glibc
import Synchronization

/// A sensor that listens to a program on a bus. Its methods are called from any thread.
protocol BusSensor: AnyObject, Sendable {
    /// Begins to listen.
    func begin()
    /// Asks what it would not be told; the answer comes as a change.
    func look()
    /// Listens more closely, while something runs, or less.
    func sense(running: Bool)
}

extension BusSensor {
    func look() {}
    func sense(running: Bool) {}
}

/// The place of one sensor on a bus, until the connection ends: what it says after that counts no more.
final class BusSeat: Sendable {
    let roots: SensorRoots
    let bus: MessageBus
    let sensor: Sensor
    /// Which of several ways to the same thing; empty for the only one.
    let way: String
    private let desk: SensorDesk
    private let link: SensorConnection.Life

    init(
        _ sensor: Sensor, way: String = "", _ bus: MessageBus, _ desk: SensorDesk, _ roots: SensorRoots,
        _ link: SensorConnection.Life
    ) {
        (self.sensor, self.way, self.bus, self.desk, self.roots, self.link) = (sensor, way, bus, desk, roots, link)
        link.settling.enter()
    }

    /// Takes note of what the sensor knows, or of what became of it.
    func publish(_ state: MonitorReport.State, _ change: (inout Readings) -> Void) {
        desk.update(sensor, state, way: way, if: { link.isLive }, change)
        settle()
    }

    private let isSettled = Mutex(false)

    /// It has said for the first time what it knows, or never will.
    func settle() {
        let isFirst = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return !isSettled
        }
        if isFirst { link.settling.leave() }
    }
}

/// A connection to a bus with all sensors that listen there.
final class SensorConnection: Sendable {
    /// What the seats know of the connection.
    final class Life: Sendable {
        /// Entered by each sensor until it knows what it can.
        let settling = DispatchGroup()
        private enum Stage { case live, ending, over }
        private struct State {
            var stage = Stage.live
            var seats: [BusSeat] = []
        }
        private let state = Mutex(State())
        /// Whether what its seats say counts.
        var isLive: Bool { state.withLock { $0.stage == .live } }
        /// Whether it is ending by itself, so that only why it does counts.
        var isEnding: Bool { state.withLock { $0.stage == .ending } }
        /// Whether nothing counts any more.
        var isOver: Bool { state.withLock { $0.stage == .over } }

        func add(_ new: [BusSeat]) {
            let isLive = state.withLock { state in
                if state.stage == .live { state.seats = new }
                return state.stage == .live
            }
            if !isLive { for seat in new { seat.settle() } }
        }

        /// It ends by itself: what its seats say after that does not count, or it could come after the reason of the end.
        func beginEnd() { state.withLock { if $0.stage == .live { $0.stage = .ending } } }

        /// Nothing that is said after that counts, and nobody waits for it.
        func end() {
            let old = state.withLock { state in
                defer { state = State(stage: .over) }
                return state.seats
            }
            for seat in old { seat.settle() }
        }
    }
    /// A sensor, which way it is to what it tells, and how it is made and forgotten.
    struct Kind: Sendable {
        var sensor: Sensor
        var way = ""
        var make: @Sendable (BusSeat) -> any BusSensor
        var forget: @Sendable (inout Readings) -> Void
    }

    private let bus: MessageBus
    private let life: Life
    private let sensors: [any BusSensor]
    private let elapsed: @Sendable () -> Double
    /// How long the first answers are waited for, in seconds; a program that has not answered then may never do.
    private static let beginning = 1.0
    /// When it was begun, in seconds since the start of the machine.
    let begun: Double

    /// Connects. What becomes of that is in the report.
    init?(_ address: String, threadName: String, _ kinds: [Kind], _ desk: SensorDesk, _ roots: SensorRoots) {
        let life = Life()
        self.life = life
        elapsed = roots.elapsed
        begun = roots.elapsed()
        for kind in kinds { desk.note(kind.sensor, .failed("It was asked, and has not answered."), way: kind.way) }
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
        let made = kinds.map { BusSeat($0.sensor, way: $0.way, connection, desk, roots, life) }
        sensors = zip(kinds, made).map { kind, seat in kind.make(seat) }
        life.add(made)
        for sensor in sensors { sensor.begin() }
    }

    /// Nobody has anything to ask here; whoever does anyway is not kept waiting.
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

    /// Has all sensors ask. Soon after the beginning also waits until each knows what it can for the first time.
    func look(until deadline: DispatchTime) {
        for sensor in sensors { sensor.look() }
        guard elapsed() - begun < Self.beginning else { return }
        _ = life.settling.wait(timeout: deadline)
    }

    /// How closely all sensors listen.
    func sense(running: Bool) { for sensor in sensors { sensor.sense(running: running) } }

    /// Ends the connection; nothing is told after that.
    func close() {
        life.end()
        bus.close()
    }

    deinit { close() }
}
