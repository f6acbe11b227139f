// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import ServiceProtocol
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
    private let link: BusLink.Life

    init(
        _ sensor: Sensor, way: String = "", _ bus: MessageBus, _ desk: SensorDesk, _ roots: SensorRoots,
        _ link: BusLink.Life
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
final class BusLink: Sendable {
    /// What the seats know of the connection.
    final class Life: Sendable {
        /// Entered by each sensor until it knows what it can.
        let settling = DispatchGroup()
        /// `nil` once it has ended.
        private let seats = Mutex<[BusSeat]?>([])
        var isLive: Bool { seats.withLock { $0 != nil } }

        func add(_ new: [BusSeat]) {
            let isLive = seats.withLock { seats in
                if seats != nil { seats = new }
                return seats != nil
            }
            if !isLive { for seat in new { seat.settle() } }
        }

        /// Nothing that is said after that counts, and nobody waits for it.
        func end() {
            let old = seats.withLock { seats in
                defer { seats = nil }
                return seats
            }
            for seat in old ?? [] { seat.settle() }
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
            for kind in kinds {
                desk.update(kind.sensor, state, way: kind.way, if: { life.isLive }, kind.forget)
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

    /// Whether the connection has ended by itself.
    var hasEnded: Bool { !life.isLive }

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
