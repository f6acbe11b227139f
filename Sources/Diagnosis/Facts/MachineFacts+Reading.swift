// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import Dispatch
import Glibc
import IdleScheduling
import SearchlightEngine

extension MachineFacts {
    /// Reads the facts about the machine without changing or starting anything. All parts are read
    /// concurrently, each with the time limit `patience`.
    package init(_ roots: DiagnosisRoots, installation: Installation) async {
        let patience = roots.patience
        async let kernel = Patience.look(patience) { KernelFacts(roots) }
        async let sensors = Patience.look(patience) { Self.sensors(roots) }
        async let programs = Patience.look(patience) { ProgramFacts(roots, installation) }
        async let store = Patience.look(patience) { StoreFacts(roots) }
        async let service = ServiceStateFacts.read(roots)
        async let activation = ActivationFacts.read(roots)
        async let extensions = Patience.look(patience) {
            ExtensionFacts(roots, frameworkFolder: installation.frameworkFolder)
        }
        self.init(
            kernel: await kernel, sensors: await sensors, programs: await programs, store: await store,
            service: await service, activation: await activation, extensions: await extensions, patience: patience)
    }

    /// Reads the sensors as the service does during a background job.
    private static func sensors(_ roots: DiagnosisRoots) -> MonitorReport {
        var places = SensorRoots.machine(environment: roots.environment)
        (places.proc, places.sys, places.threadName) = (roots.proc, roots.sys, "doctor")
        let store = FolderFacts(roots.store)
        let monitor = ConditionMonitor(roots: places, store: store.nearest)
        monitor.sense(.running)
        defer { monitor.sense(.off) }
        monitor.look()
        // The load is computed from the difference between two readings.
        usleep(useconds_t(sensorPause * 1e6))
        monitor.look()
        return monitor.report()
    }

    /// The delay between two readings, in seconds. The load is reported after at least a quarter of
    /// a second.
    private static let sensorPause = 0.3
}

extension ProgramFacts {
    /// The programs that commands start if they are installed.
    static let called = ["xdg-open", "rsvg-convert"]

    init(_ roots: DiagnosisRoots, _ installation: Installation) {
        let path = (roots.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        var failure: String?
        do throws(PolicyFile.Failure) { _ = try PolicyFile(environment: roots.environment).policy() } catch {
            failure = error.description
        }
        let cache = roots.userFolder("XDG_CACHE_HOME", ".cache") ?? "/"
        self.init(
            version: Installation.version, worker: installation.workerPath,
            isWorkerThere: ProbedFile.isProgram(installation.workerPath),
            isQuickLookThere: ProbedFile.isProgram(installation.quickLookPath),
            frameworkFolder: installation.frameworkFolder,
            found: Set(Self.called.filter { name in path.contains { ProbedFile.isProgram("\($0)/\(name)") } }),
            policyFailure: failure, workerFolder: FolderFacts(cache + "/searchlight/workers"))
    }
}

extension StoreFacts {
    init(_ roots: DiagnosisRoots) {
        let folder = FolderFacts(roots.store)
        var status = stat()
        let database: FileFacts? =
            stat(roots.store + "/index.sqlite", &status) == 0
            ? FileFacts(owner: status.st_uid, mode: status.st_mode & 0o7777) : nil
        let table = ProbedFile.text(roots.proc + "/self/mountinfo", limit: Mount.maximumBytes)
        let mount = ProbedFile.resolved(folder.nearest).flatMap { path in table.flatMap { Mount.of(path, in: $0) } }
        var disk = statvfs()
        var free: UInt64?
        if statvfs(folder.nearest, &disk) == 0 {
            let (bytes, overflow) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
            free = overflow ? UInt64.max : bytes
        }
        let policy = (try? PolicyFile(environment: roots.environment).policy()) ?? SchedulingPolicy()
        self.init(
            folder: folder, database: database, mount: mount,
            diskScheduler: mount.flatMap { Self.diskScheduler($0, roots.sys) }, free: free,
            floor: UInt64(max(0, min(policy.diskFloorCloses, 1e18))), marks: StoreMarks(store: roots.store))
    }

    /// The maximum number of device layers, such as an encrypted volume on a partition.
    private static let maximumLayers = 6

    /// Returns the scheduler of a mount's disk: the word in brackets in a line such as
    /// `none [mq-deadline] kyber`.
    private static func diskScheduler(_ mount: Mount, _ sys: String) -> String? {
        let name = mount.source.split(separator: "/").last.map(String.init) ?? ""
        for folder in ["\(sys)/dev/block/\(mount.device)", "\(sys)/class/block/\(name)"] {
            var device = folder
            for _ in 0..<maximumLayers {
                let below = ProbedFile.names(device + "/slaves", limit: 64).sorted()
                if let first = below.first {
                    device += "/slaves/" + first
                    continue
                }
                for queue in ["/queue/scheduler", "/../queue/scheduler"] {
                    guard let text = ProbedFile.text(device + queue, limit: 512) else { continue }
                    let words = text.split(whereSeparator: \.isWhitespace)
                    let chosen = words.first { $0.hasPrefix("[") } ?? words.first
                    return chosen.map { $0.trimmingPrefix("[") }.map { String($0.prefix { $0 != "]" }) }
                }
                break
            }
        }
        return nil
    }
}
