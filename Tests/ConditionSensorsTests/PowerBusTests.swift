// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("Power and locks over a bus", .enabled(if: DBusMock.isAvailable), .timeLimit(.minutes(10)))
struct PowerBusTests {
    private static let upower = "org.freedesktop.UPower"
    private static let display = "/org/freedesktop/UPower/devices/DisplayDevice"
    private static let device = "org.freedesktop.UPower.Device"

    private let bus: PrivateBus
    private let machine: FakeMachine
    private let monitor: ConditionMonitor
    private let told: Told

    init() throws {
        bus = try PrivateBus()
        machine = try FakeMachine()
        var roots = machine.roots
        (roots.systemBus, roots.sessionBus) = (bus.address, bus.address)
        monitor = ConditionMonitor(roots: roots, store: machine.folder.path)
        told = Told(monitor)
    }

    @Test("A battery is followed by UPower's signals, and its charge only during a job or at a check")
    func battery() async throws {
        let mock = try DBusMock(bus, template: "upower", name: Self.upower)
        monitor.sense(.waiting)
        let mains = await told.first { $0.power != nil }
        #expect(mains?.power == Conditions.Power(isOnBattery: false))
        try mock.update("/org/freedesktop/UPower", Self.upower, "{'OnBattery': <true>}")
        let battery = await told.first { $0.power?.isOnBattery == true }
        #expect(battery?.power?.percent == nil)
        try mock.update(
            Self.display, Self.device, "{'Type': <uint32 2>, 'IsPresent': <true>, 'Percentage': <41.5>}")
        monitor.look()
        let looked = await told.first { $0.power?.percent != nil }
        #expect(looked?.power == Conditions.Power(isOnBattery: true, percent: 41.5))
        monitor.sense(.running)
        try mock.update(Self.display, Self.device, "{'Percentage': <40.0>}")
        let signalled = await told.first { $0.power?.percent == 40 }
        #expect(signalled != nil)
        #expect(monitor.report()[.upower] == .inUse)
    }

    @Test(
        "An invalid charge is unknown",
        arguments: ["<-1.0>", "<1e300>", "<'full'>", "<[byte 1]>"])
    func hostilePercent(_ value: String) async throws {
        let mock = try DBusMock(bus, template: "upower", name: Self.upower)
        try mock.update(
            Self.display, Self.device, "{'Type': <uint32 2>, 'IsPresent': <true>, 'Percentage': <50.0>}")
        monitor.sense(.running)
        let before = await told.first { $0.power?.percent == 50 }
        #expect(before?.power?.isOnBattery == false)
        try mock.update(Self.display, Self.device, "{'Percentage': \(value)}")
        let after = await told.first { $0.power?.percent == nil }
        #expect(after?.power?.isOnBattery == false)
    }

    @Test("The user's chosen profile is followed, and an exit of its service is noticed")
    func profiles() async throws {
        let name = "net.hadess.PowerProfiles"
        let mock = try DBusMock(bus, template: "power_profiles_daemon", name: name)
        monitor.sense(.waiting)
        let balanced = await told.first { $0.isSavingPower != nil }
        #expect(balanced?.isSavingPower == false)
        try mock.update("/net/hadess/PowerProfiles", name, "{'ActiveProfile': <'power-saver'>}")
        let saving = await told.first { $0.isSavingPower == true }
        #expect(saving != nil && monitor.report()[.powerProfiles] == .inUse)
        mock.stop()
        let gone = await told.first { $0.isSavingPower == nil }
        #expect(gone != nil && monitor.report()[.powerProfiles].isAbsent)
    }

    @Test("An active screen saver locks; one that can only be inhibited reports nothing")
    func screenSaver() async throws {
        let name = "org.gnome.ScreenSaver"
        let mute = try DBusMock(
            bus, name: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
            interface: "org.freedesktop.ScreenSaver")
        let mock = try DBusMock(bus, template: "gnome_screensaver", name: name)
        monitor.sense(.waiting)
        let open = await told.first { $0.isLocked != nil }
        #expect(open?.isLocked == false)
        try mock.call("/org/gnome/ScreenSaver", name + ".SetActive", "true")
        let locked = await told.first { $0.isLocked == true }
        #expect(locked != nil && monitor.report()[.screenSaver] == .inUse)
        mute.stop()
    }

    @Test("The compositor reports a minute without input, and the return of input")
    func compositor() async throws {
        let (name, path) = ("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core")
        let mock = try DBusMock(bus, name: name, path: path, interface: name)
        try mock.addMethod(path, name, "GetIdletime", ("", "t"), "ret = 1500")
        try mock.addMethod(path, name, "AddIdleWatch", ("t", "u"), "ret = 7 if args[0] == 60000 else 0")
        try mock.addMethod(path, name, "AddUserActiveWatch", ("", "u"), "ret = 8")
        monitor.sense(.waiting)
        let active = await told.first { $0.presence != nil }
        #expect(active?.presence == .active)
        try mock.emit(path, name, "WatchFired", "u", "[<uint32 99>]")
        try mock.emit(path, name, "WatchFired", "u", "[<uint32 7>]")
        let away = await told.first { $0.presence != .active }
        #expect(away?.presence == .away(since: machine.now.value - 60))
        // The second watch is requested afterwards. It exists once its call is answered.
        while try !mock.call(path, "org.freedesktop.DBus.Mock.GetCalls").contains("AddUserActiveWatch") {}
        try mock.emit(path, name, "WatchFired", "u", "[<uint32 8>]")
        let back = await told.first { $0.presence == .active }
        #expect(back != nil && monitor.report()[.idleMonitor] == .inUse)
    }

    @Test("A compositor that was idle before reports since when, and at most since 2001")
    func idleCompositor() async throws {
        let (name, path) = ("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core")
        let mock = try DBusMock(bus, name: name, path: path, interface: name)
        try mock.addMethod(path, name, "GetIdletime", ("", "t"), "ret = \(UInt64.max)")
        try mock.addMethod(path, name, "AddIdleWatch", ("t", "u"), "ret = 7")
        try mock.addMethod(path, name, "AddUserActiveWatch", ("", "u"), "ret = 8")
        monitor.sense(.waiting)
        let away = await told.first { $0.presence != nil }
        #expect(away?.presence == .away(since: 0))
    }

    @Test("Without the services each sensor names the missing service, and nothing is started")
    func absent() async throws {
        monitor.sense(.waiting)
        let sensors = [Sensor.logind, .upower, .powerProfiles, .screenSaver, .idleMonitor]
        // Each reading waits briefly for the requested values.
        while !sensors.allSatisfy({ monitor.report()[$0].isAbsent }) { monitor.look() }
        #expect(monitor.look().presence == nil)
    }
}
