// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Glibc
import IdleScheduling
import Synchronization
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("Login sessions", .enabled(if: DBusMock.isAvailable), .timeLimit(.minutes(10)))
struct LogindTests {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let session = "org.freedesktop.login1.Session"

    private let bus: PrivateBus
    private let mock: DBusMock
    private let machine: FakeMachine
    private let monitor: ConditionMonitor
    private let told: Told

    init() throws {
        bus = try PrivateBus()
        mock = try DBusMock(bus, template: "logind", name: Self.name)
        machine = try FakeMachine()
        var roots = machine.roots
        roots.systemBus = bus.address
        monitor = ConditionMonitor(roots: roots, store: machine.folder.path)
        told = Told(monitor)
    }

    @discardableResult
    private func addSession(_ name: String, user: UInt32 = getuid(), _ properties: String) throws -> String {
        try mock.call(
            Self.path, "org.freedesktop.DBus.Mock.AddSession", name, "seat0", "\(user)", "somebody", "true")
        let path = "\(Self.path)/session/\(name)"
        try mock.update(path, Self.session, "{'Type': <'wayland'>, \(properties)}")
        return path
    }

    /// Takes readings until logind has answered. Each reading waits briefly for the answer.
    private func lookUntilKnown() { while monitor.report()[.logind] != .inUse { monitor.look() } }

    /// Microseconds from 1970 to N seconds before now.
    private func ago(_ seconds: Double) -> Int { Int((machine.now.value - seconds + SensorRoots.epoch) * 1e6) }

    @Test("Input, absence and locks of a session are reported as they happen")
    func session() async throws {
        let path = try addSession("c1", "'IdleHint': <false>, 'IdleSinceHint': <uint64 \(ago(5))>")
        monitor.sense(.waiting)
        let first = await told.first { $0.presence != nil }
        #expect(first?.presence == .active && first?.isLocked == false)
        try mock.update(path, Self.session, "{'IdleHint': <true>, 'IdleSinceHint': <uint64 \(ago(7))>}")
        let away = await told.first { $0.presence != .active }
        #expect(away?.presence == .away(since: machine.now.value - 7))
        try mock.update(path, Self.session, "{'LockedHint': <true>}")
        let locked = await told.first { $0.isLocked == true }
        #expect(locked?.presence == .away(since: machine.now.value - 7))
        try mock.update(path, Self.session, "{'LockedHint': <false>, 'IdleHint': <false>}")
        let back = await told.first { $0.isLocked == false && $0.presence == .active }
        #expect(back != nil)
        #expect(monitor.report()[.logind] == .inUse)
    }

    @Test("Without sessions the user's presence is unknown, although the hint is idle")
    func noSessions() async throws {
        try mock.update(Self.path, Self.manager, "{'IdleHint': <true>, 'IdleSinceHint': <uint64 \(ago(1))>}")
        monitor.sense(.waiting)
        lookUntilKnown()
        let conditions = monitor.look()
        #expect(conditions.presence == nil && conditions.isLocked == nil)
    }

    @Test(
        "A new session is read, a silent session and one at a terminal are unknown, and a closed one is removed"
    )
    func sessionsComeAndGo() async throws {
        monitor.sense(.waiting)
        lookUntilKnown()
        let (terminal, silent) = (
            try addSession("t1", "'Type': <'tty'>, 'IdleSinceHint': <uint64 \(ago(5))>"),
            try addSession("s1", "'IdleHint': <false>")
        )
        let path = try addSession("c2", "'IdleSinceHint': <uint64 \(ago(5))>")
        for (name, path) in [("t1", terminal), ("s1", silent)] {
            try mock.emit(Self.path, Self.manager, "SessionNew", "so", "[<'\(name)'>, <objectpath '\(path)'>]")
        }
        let silently = await told.first { $0.isLocked != nil }
        #expect(silently?.isLocked == false)
        try mock.emit(Self.path, Self.manager, "SessionNew", "so", "[<'c2'>, <objectpath '\(path)'>]")
        let active = await told.first { $0.presence == .active }
        #expect(active != nil)
        try mock.emit(Self.path, Self.manager, "SessionRemoved", "so", "[<'c2'>, <objectpath '\(path)'>]")
        let gone = await told.first { $0.presence == nil }
        #expect(gone?.isLocked == false)
    }

    @Test("Sleep and waking are reported with their time")
    func sleep() async throws {
        monitor.sense(.waiting)
        lookUntilKnown()
        try mock.emit(Self.path, Self.manager, "PrepareForSleep", "b", "[<true>]")
        let asleep = await told.first { $0.isAsleep }
        #expect(asleep?.resumed == nil)
        machine.now.advance(3600)
        try mock.emit(Self.path, Self.manager, "PrepareForSleep", "b", "[<false>]")
        let awake = await told.first { !$0.isAsleep }
        #expect(awake?.resumed == machine.now.value)
    }

    @Test("Blocking idle inhibitors are reported with the reason; delays and other inhibitors are not")
    func inhibitors() async throws {
        try mock.call(Self.path, "org.freedesktop.DBus.Mock.AddProperty", Self.manager, "BlockInhibited", "<''>")
        monitor.sense(.waiting)
        lookUntilKnown()
        try mock.addMethod(
            Self.path, Self.manager, "ListInhibitors", ("", "a(ssssuu)"),
            """
            ret = [('sleep', 'Copier', 'copying', 'block', 1000, 7), ('sleep:idle', 'Player', 'a film', 'block', 1000, 8), \
            ('idle', 'Other', 'x', 'delay', 1000, 9), ('idle', 'L' * 5000, '', 'block', 1000, 10)]
            """)
        try mock.update(Self.path, Self.manager, "{'BlockInhibited': <'sleep:idle'>}")
        let inhibited = await told.first { !$0.inhibitors.isEmpty }
        #expect(inhibited?.inhibitors.map(\.who.count) == [200, 6])
        #expect(inhibited?.inhibitors.last == Conditions.Inhibitor(who: "Player", why: "a film", isOwn: false))
        try mock.addMethod(Self.path, Self.manager, "ListInhibitors", ("", "a(ssssuu)"), "ret = []")
        try mock.update(Self.path, Self.manager, "{'BlockInhibited': <''>}")
        let free = await told.first { $0.inhibitors.isEmpty }
        #expect(free != nil)
    }

    @Test("Values of wrong types, out of range or from other senders change nothing")
    func hostile() async throws {
        let path = try addSession("c1", "'IdleHint': <false>, 'IdleSinceHint': <uint64 \(ago(5))>")
        monitor.sense(.waiting)
        _ = await told.first { $0.presence == .active }
        try DBusMock.emitAsStranger(bus, to: nil, Self.path, "\(Self.manager).PrepareForSleep", "true")
        try DBusMock.emitAsStranger(
            bus, to: nil, path, "org.freedesktop.DBus.Properties.PropertiesChanged", "'\(Self.session)'",
            "{'LockedHint': <true>}", "@as []")
        try mock.emit(Self.path, Self.manager, "PrepareForSleep", "s", "[<'yes'>]")
        try mock.emit(Self.path, Self.manager, "SessionNew", "so", "[<'x'>, <objectpath '/etc/passwd'>]")
        try mock.update(path, Self.session, "{'IdleHint': <true>, 'IdleSinceHint': <uint64 \(UInt64.max)>}")
        let far = await told.first { $0.presence != .active }
        #expect(far?.presence == .away(since: machine.now.value))
        try mock.update(path, Self.session, "{'IdleHint': <'no'>, 'LockedHint': <5.0>}")
        let odd = await told.first { $0.presence == nil }
        #expect(odd?.isLocked == nil && odd?.isAsleep == false)
    }

    @Test("A call that gets no answer is repeated, and the known values return")
    func failsOnce() async throws {
        try addSession("c1", "'IdleHint': <false>, 'IdleSinceHint': <uint64 \(ago(5))>")
        monitor.sense(.waiting)
        _ = await told.first { $0.presence == .active }
        try mock.call(Self.path, "org.freedesktop.DBus.Mock.AddProperty", Self.manager, "BlockInhibited", "<''>")
        let failing = "raise dbus.exceptions.DBusException('not now', name='org.example.Later')"
        try mock.addMethod(Self.path, Self.manager, "ListInhibitors", ("", "a(ssssuu)"), failing)
        try mock.update(Self.path, Self.manager, "{'BlockInhibited': <'idle'>}")
        _ = await told.first { $0.presence == nil }
        #expect(monitor.report()[.logind] != .inUse)
        try mock.addMethod(Self.path, Self.manager, "ListInhibitors", ("", "a(ssssuu)"), "ret = []")
        lookUntilKnown()
        #expect(monitor.look().presence == .active)
    }

    @Test("A sensor's report while its connection ends does not replace the reason why it ended")
    func saidWhileEnding() throws {
        let desk = SensorHub()
        let connection = try MessageBus(address: bus.address, name: "ending", onCall: { _ in }, onDisconnect: { _ in })
        defer { connection.close() }
        let life = SensorConnection.Life()
        let seat = SensorSubscription(.logind, connection, desk, machine.roots, life)
        life.add([seat])
        seat.publish(.inUse) { _ in }
        life.beginEnd()
        #expect(!life.isLive && life.isEnding && !life.isOver)
        desk.update(.logind, .absent("There is no bus."), way: "", if: { life.isEnding }) { _ in }
        seat.publish(.failed("Nobody is there.")) { _ in }
        #expect(desk.report(.waiting)[.logind] == .absent("There is no bus."))
        life.end()
        // A closed life cycle does not start to end.
        life.beginEnd()
        #expect(life.isOver && !life.isEnding)
        desk.update(.logind, .inUse, way: "", if: { life.isEnding }) { _ in }
        #expect(desk.report(.waiting)[.logind] == .absent("There is no bus."))
    }

    @Test("The sensor is in use only after all answers, however early the first ones arrive")
    func answersEarly() throws {
        let desk = SensorHub()
        let connection = try MessageBus(address: bus.address, name: "early", onCall: { _ in }, onDisconnect: { _ in })
        defer { connection.close() }
        let seat = SensorSubscription(.logind, connection, desk, machine.roots, SensorConnection.Life())
        let path = "\(Self.path)/session/c1"
        let since = UInt64(ago(5))
        let inUse = Mutex<[String]>([])
        // Each question is answered before the next is asked.
        let sensor = LogindSensor(seat) { _, member, _, reply in
            if desk.report(.waiting)[.logind] == .inUse { inUse.withLock { $0.append(member.member) } }
            switch member.member {
            case "ListSessions": reply(.success([.list([.list([.text("c1"), .text(path)])])]))
            case "GetAll":
                let session: [String: ForeignValue] = [
                    "Active": .boolean(true), "Class": .text("user"), "State": .text("active"),
                    "Type": .text("wayland"), "User": .list([.unsigned(UInt64(getuid())), .text("/")]),
                    "IdleHint": .boolean(false), "IdleSinceHint": .unsigned(since), "LockedHint": .boolean(false),
                ]
                reply(.success([.entries(session)]))
            case "Get": reply(.success([.boolean(false)]))
            default: reply(.success([.list([])]))
            }
        }
        sensor.askAll()
        #expect(inUse.withLock { $0 } == [], "Questions that were asked after it seemed whole.")
        #expect(desk.report(.waiting)[.logind] == .inUse && desk.conditions.presence == .active)
    }

    @Test("An exit of logind removes its values, and a new logind is read")
    func restart() async throws {
        try addSession("c1", "'IdleSinceHint': <uint64 \(ago(5))>")
        monitor.sense(.waiting)
        _ = await told.first { $0.presence == .active }
        mock.stop()
        let gone = await told.first { $0.presence == nil }
        #expect(gone != nil && monitor.report()[.logind].isAbsent)
        let second = try DBusMock(bus, template: "logind", name: Self.name)
        lookUntilKnown()
        try second.emit(Self.path, Self.manager, "PrepareForSleep", "b", "[<true>]")
        let asleep = await told.first { $0.isAsleep }
        #expect(asleep != nil && monitor.report()[.logind] == .inUse)
    }
}
