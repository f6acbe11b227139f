// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import Synchronization
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("The monitor", .timeLimit(.minutes(10)))
struct MonitorTests {
    /// A sensor with values that a test sets. It can block on request.
    private final class Knob: FileSensor {
        let sensor: Sensor
        let load = Mutex(0.0)
        let gate: DispatchSemaphore?

        init(_ sensor: Sensor, gate: DispatchSemaphore? = nil) { (self.sensor, self.gate) = (sensor, gate) }

        func read() -> FileReading {
            gate?.wait()
            let load = load.withLock { $0 }
            return FileReading(state: .inUse) { [sensor] in
                if sensor == .load { $0.otherLoad = load } else { $0.isHot = load > 0 }
            }
        }
    }

    /// Polls until a condition that sends no notification holds. The time limit is long enough for
    /// a machine that is ten times slower, so the test's own limit ends no loop.
    private func comes(_ condition: () -> Bool) -> Bool {
        let deadline = ContinuousClock.now + .seconds(100)
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            sched_yield()
        }
        return true
    }

    @Test("A sensor that hangs delays no other sensor and is not read twice")
    func hanging() throws {
        let machine = try FakeMachine()
        let gate = DispatchSemaphore(value: 0)
        let (stuck, good) = (Knob(.thermal, gate: gate), Knob(.load))
        let monitor = ConditionMonitor(roots: machine.roots, files: [stuck, good], patience: 2000)
        monitor.sense(.waiting)
        // The first reading skips the sensors after the blocked one. Later readings skip only the
        // blocked sensor.
        #expect(monitor.look().isHot == nil)
        good.load.withLock { $0 = 0.25 }
        #expect(monitor.look().otherLoad == 0.25)
        good.load.withLock { $0 = 0.5 }
        #expect(monitor.look().otherLoad == 0.5)
        // A thread that has read the other sensors may be about to exit.
        #expect(comes { machine.threads.count <= 1 })
        #expect(machine.threads == [machine.threadName + "-look"])
        gate.signal()
        #expect(comes { machine.threads.isEmpty })
        gate.signal()
        #expect(monitor.look().isHot == false)
    }

    @Test("Changes are reported once, even changes during a report")
    func coalescing() throws {
        let desk = SensorHub()
        let told = Mutex<[Double?]>([])
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        desk.setHandler { conditions in
            told.withLock { $0.append(conditions.otherLoad) }
            entered.signal()
            leave.wait()
        }
        desk.update { $0.otherLoad = 0.5 }
        desk.open()
        let first = OneThread { desk.update { $0.otherLoad = 0.1 } }
        entered.wait()
        for step in 2...9 { desk.update { $0.otherLoad = Double(step) / 10 } }
        leave.signal()
        leave.signal()
        first.join()
        desk.update { $0.otherLoad = 0.9 }
        #expect(told.withLock { $0 } == [0.1, 0.9])
    }

    @Test("The use of a sensor and its values are stored together, even if it ends at the same time")
    func atOnce() {
        let desk = SensorHub()
        var asked = 0
        func isLive() -> Bool {
            asked += 1
            return asked == 1
        }
        desk.update(.load, .inUse, way: "", if: isLive) { $0.otherLoad = 0.5 }
        #expect(asked == 1)
        #expect(desk.report(.waiting)[.load] == .inUse && desk.conditions.otherLoad == 0.5)
        desk.update(.load, .resting, way: "", if: { false }) { $0.otherLoad = nil }
        #expect(desk.report(.waiting)[.load] == .inUse && desk.conditions.otherLoad == 0.5)
    }

    /// A thread that a test waits for.
    private final class OneThread: Sendable {
        private let end = DispatchGroup()
        init(_ body: @escaping @Sendable () -> Void) {
            end.enter()
            Thread.detachNewThread { [end] in
                body()
                end.leave()
            }
        }
        func join() { end.wait() }
    }

    @Test("A handler may read and change the mode")
    func reentrance() async throws {
        let machine = try FakeMachine()
        let monitor = ConditionMonitor(roots: machine.roots, files: [Knob(.load)], patience: 20_000)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        monitor.start { [weak monitor] _ in
            monitor?.look()
            monitor?.sense(.off)
            continuation.yield()
        }
        monitor.sense(.waiting)
        monitor.look()
        for await _ in ends { break }
        #expect(monitor.report().mode == .off)
    }

    @Test("While the monitor is off, nothing is reported and old values are dropped")
    func off() async throws {
        let machine = try FakeMachine()
        let load = Knob(.load)
        let monitor = ConditionMonitor(roots: machine.roots, files: [load], patience: 20_000)
        let count = Mutex(0)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        monitor.start { _ in
            count.withLock { $0 += 1 }
            continuation.yield()
        }
        monitor.look()
        #expect(comes { machine.threads.isEmpty })
        #expect(count.withLock { $0 } == 0)
        monitor.sense(.waiting)
        monitor.look()
        for await _ in stream { break }
        #expect(comes { machine.threads.isEmpty })
        let before = count.withLock { $0 }
        monitor.sense(.off)
        load.load.withLock { $0 = 0.5 }
        #expect(monitor.look().otherLoad == 0.5)
        #expect(comes { machine.threads.isEmpty })
        #expect(count.withLock { $0 } == before)
        #expect(monitor.report().sensors.map(\.sensor) == Sensor.allCases)
    }

    @Test(
        "A missing bus is absent, and an ended one is tried again at a later check",
        .enabled(if: PrivateBus.isAvailable))
    func noBus() async throws {
        let machine = try FakeMachine()
        var roots = machine.roots
        roots.systemBus = "unix:path=\(machine.folder.path("bus"))"
        let monitor = ConditionMonitor(roots: roots, files: [])
        monitor.sense(.waiting)
        monitor.look()
        // The connection's thread exits on its own soon, and reports it.
        #expect(comes { monitor.report()[.logind] == .absent("There is no bus at \(roots.systemBus ?? "").") })
        #expect(monitor.report()[.screenSaver] == .absent("There is no session bus."))
        // The bus starts.
        let bus = try PrivateBus()
        try FileManager.default.createSymbolicLink(
            atPath: machine.folder.path("bus"), withDestinationPath: bus.folder.path("bus"))
        monitor.look()
        #expect(comes { machine.threads.isEmpty })
        machine.elapsed.advance(31)
        monitor.look()
        #expect(
            comes {
                monitor.look()
                return monitor.report()[.logind] == .absent("No service on the bus is named org.freedesktop.login1.")
            })
        #expect(comes { machine.threads == [machine.threadName + "-syst"] })
    }

    @Test("Each mode has its threads, and off has none, after any sequence", .enabled(if: PrivateBus.isAvailable))
    func modes() throws {
        let machine = try FakeMachine()
        let bus = try PrivateBus()
        var roots = machine.roots
        (roots.systemBus, roots.sessionBus) = (bus.address, bus.address)
        let monitor = ConditionMonitor(roots: roots, store: machine.folder.path)
        let (system, session, run) = ("-syst", "-sess", "-run")
        let steps: [(SchedulerAction.Sensing, [String])] = [
            (.off, []), (.waiting, [session, system]), (.waiting, [session, system]),
            (.running, [run, session, system]), (.running, [run, session, system]), (.waiting, [session, system]),
            (.off, []), (.off, []), (.running, [run, session, system]), (.off, []),
        ]
        for (mode, expected) in steps {
            monitor.sense(mode)
            // Threads exit by themselves soon.
            #expect(comes { machine.threads == expected.map({ machine.threadName + $0 }) })
        }
    }

    @Test("A process with a monitor that is off has no additional thread or descriptor")
    func offInAProcess() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = (program as NSString).deletingLastPathComponent
        // Some runners load the tests into a program of the toolchain.
        let built = FileManager.default.fileExists(atPath: folder + "/ConditionProbe") ? folder : ".build/debug"
        let probe = built + "/ConditionProbe"
        let bus = PrivateBus.isAvailable ? try PrivateBus() : nil
        var environment = ProcessInfo.processInfo.environment
        for kind in ["SYSTEM", "SESSION"] { environment["DBUS_\(kind)_BUS_ADDRESS"] = bus?.address ?? "unix:path=/no" }
        let (ending, output) = try ChildProcess.run(probe, ["modes"], environment: environment)
        #expect(ending == .exited(0))
        let off = output.split(separator: "\n").filter { $0.hasPrefix("off ") }
        #expect(off.count == 2 && Set(off).count == 1, "\(output)")
        // ThreadSanitizer has its own thread.
        let threads = Sanitizer.current == .thread ? 2 : 1
        #expect(off.first?.hasPrefix("off \(threads) threads") == true, "\(output)")
    }

    @Test(
        "During a job the kernel's pressure events are requested, in files of the monitor's own",
        .enabled(if: access("/proc/pressure/cpu", W_OK) == 0, "this kernel has no /proc/pressure"))
    func triggers() async throws {
        var roots = try FakeMachine().roots
        roots.proc = "/proc"
        let monitor = ConditionMonitor(roots: roots, files: [])
        let (notes, continuation) = AsyncStream.makeStream(of: MonitorReport.State.self)
        let actions = RunningWatch.Actions(tick: {}, pressure: {}, note: { continuation.yield($0) })
        let watch = RunningWatch(roots: roots, actions: actions)
        for await note in notes {
            #expect(note == .inUse)
            break
        }
        withExtendedLifetime((watch, monitor)) {}
    }

    @Test("Pressure events are requested in the kernel's syntax, and a kernel without them is reported")
    func fakeTriggers() async throws {
        let machine = try FakeMachine()
        try machine.write("proc/pressure/io", "")
        for isThere in [true, false] {
            let (notes, continuation) = AsyncStream.makeStream(of: MonitorReport.State.self)
            let actions = RunningWatch.Actions(tick: {}, pressure: {}, note: { continuation.yield($0) })
            let watch = RunningWatch(roots: machine.roots, actions: actions)
            for await note in notes {
                #expect(note.isAbsent != isThere)
                break
            }
            if isThere { #expect(try machine.folder.read("proc/pressure/io") == Array("some 300000 2000000\0".utf8)) }
            try? FileManager.default.removeItem(atPath: machine.folder.path("proc/pressure/io"))
            withExtendedLifetime(watch) {}
        }
    }
}
