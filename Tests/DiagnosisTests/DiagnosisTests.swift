// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import ExtensionHost
import SearchlightEngine
import Testing

@testable import Diagnosis

/// Findings about invented machines.
@Suite("Findings of the doctor")
struct DiagnosisTests {
    @Test("A healthy machine has neither problems nor notes, and a line for each part")
    func good() {
        let diagnosis = Diagnosis(.good())
        #expect(diagnosis.findings.filter { $0.level != .ok } == [])
        #expect(Set(diagnosis.findings.map(\.area)) == Set(Finding.Area.allCases))
        #expect(diagnosis.findings.allSatisfy { $0.cost == nil && $0.advice == nil })
    }

    /// A machine with one fault, and the expected finding.
    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var level: Finding.Level
        /// The words that the finding must contain, and the cost.
        var words: [String]
        var change: @Sendable (inout MachineFacts) -> Void
        var testDescription: String { "\(name): \(words)" }

        init(
            _ name: String, _ level: Finding.Level, _ words: String...,
            change: @escaping @Sendable (inout MachineFacts) -> Void
        ) {
            (self.name, self.level, self.words, self.change) = (name, level, words, change)
        }
    }

    static let kernelFaults = [
        Fault("landlock", .problem, "6.12.0 lacks Landlock.", "read and change all your files") {
            $0.kernel?.protections.remove(.files)
        },
        Fault("landlock-truncation", .note, "truncate files") { $0.kernel?.protections.remove(.truncation) },
        Fault("landlock-tcp", .note, "Linux 6.7") { $0.kernel?.protections.remove(.tcp) },
        Fault("landlock-devices", .note, "Linux 6.10") { $0.kernel?.protections.remove(.devices) },
        Fault("landlock-scopes", .note, "signals") { $0.kernel?.protections.remove(.scopes) },
        Fault("write-or-execute", .note, "Linux 6.3") { $0.kernel?.protections.remove(.code) },
        Fault("seccomp", .problem, "start programs") { $0.kernel?.protections.remove(.systemCalls) },
        Fault("libseccomp", .problem, "No extension can be started") {
            $0.kernel?.filterProblem = "libseccomp.so.2 cannot be opened"
        },
        Fault("seccomp-notices", .note, "cannot show refused attempts") { $0.kernel?.protections.remove(.telling) },
        Fault("sandbox", .problem, "SEARCHLIGHT_SANDBOX=off") { $0.kernel?.isSandboxOff = true },
        Fault("process-handles", .note, "pidfd_getfd") { $0.kernel?.abilities.remove(.processHandles) },
        Fault("open-beneath", .note, "openat2") { $0.kernel?.abilities.remove(.openBeneath) },
        Fault("folder-watch", .note, "inotify") { $0.kernel?.abilities.remove(.folderWatch) },
        Fault("idle-processor", .note, "SCHED_IDLE") { $0.kernel?.abilities.remove(.idleProcessor) },
        Fault("idle-disk", .note, "ioprio_set") { $0.kernel?.abilities.remove(.idleDisk) },
        Fault("tracing-scope", .note, "ptrace_scope is 2") { $0.kernel?.tracingScope = 2 },
        Fault("descriptors", .note, "256 files", "38 apps") { $0.kernel?.descriptorLimit = 256 },
        Fault("descriptors", .problem, "64 files") { $0.kernel?.descriptorLimit = 64 },
        Fault("kernel.silent", .problem, "did not end within 2 s") { $0.kernel = nil },
    ]
    static let machineFaults = [
        Fault("presence", .note, "user activity", "There is no system bus.", "during your activity") {
            $0.lose(.idleMonitor, .logind, .terminals)
        },
        Fault("power", .note, "battery", "upower") { $0.lose(.upower, .powerSupply) },
        Fault("pressure", .note, "psi=1") { $0.lose(.pressure) },
        Fault("pressure-notices", .note, "triggers") { $0.lose(.pressureTriggers) },
        Fault("heat", .note, "hot") { $0.lose(.thermal) },
        Fault("machine.silent", .problem, "sensors") { $0.sensors = nil },
    ]
    static let programFaults = [
        Fault("quicklook", .problem, "searchlight-quicklook is missing", "cannot serve") {
            $0.programs?.isQuickLookThere = false
        },
        Fault("worker", .problem, "no worker program", "No extension") { $0.programs?.isWorkerThere = false },
        Fault("library", .problem, "libCoreSpotlight.so") { $0.programs?.frameworkFolder = nil },
        Fault("worker-folder", .problem, "TMPDIR") { $0.programs?.workerFolder.isWritable = false },
        Fault("scheduling", .problem, "no such key", "standard policy") {
            $0.programs?.policyFailure = "It has no such key."
        },
        Fault("xdg-open", .note, "opens no browser", "xdg-utils") { $0.programs?.found.remove("xdg-open") },
        Fault("rsvg-convert", .note, "not PNG") { $0.programs?.found.remove("rsvg-convert") },
    ]
    static let storeFaults = [
        Fault("folder", .problem, "not a folder", "Nothing can be indexed") { $0.store?.folder.isFolder = false },
        Fault("folder", .problem, "cannot be written", "Donations of apps fail") {
            $0.store?.folder.isWritable = false
        },
        Fault("folder", .problem, "cannot be written") { $0.store?.mount?.isReadOnly = true },
        Fault("owner", .problem, "user 0, and you are 1000") { $0.store?.folder.owner = 0 },
        Fault("permissions", .problem, "mode 755", "can see", "chmod 700") { $0.store?.folder.mode = 0o755 },
        Fault("permissions", .problem, "replace and read your index") { $0.store?.folder.mode = 0o777 },
        Fault("permissions", .problem, "You lack access", "chmod 700") { $0.store?.folder.mode = 0 },
        Fault("file-system", .problem, "nfs4", "WAL") { $0.store?.mount?.kind = "nfs4" },
        Fault("file-system", .problem, "fuse.sshfs") { $0.store?.mount?.kind = "fuse.sshfs" },
        Fault("file-system", .problem, "vfat", "no file owners") { $0.store?.mount?.kind = "vfat" },
        Fault("file-system", .note, "tmpfs", "restarts") { $0.store?.mount?.kind = "tmpfs" },
        Fault("room", .note, "1024 MiB", "floor of 2048 MiB", "background") { $0.store?.free = 1 << 30 },
        Fault("room", .problem, "3 MiB", "may fail") { $0.store?.free = 3 << 20 },
        Fault("disk-scheduler", .note, "none", "bfq") { $0.store?.diskScheduler = "none" },
        Fault("damage", .problem, "Damage was found", "verify --repair") { $0.store?.marks.isDamaged = true },
        Fault("protection", .problem, "protected/key is missing", "searchlight verify") {
            $0.store?.marks.protectionProblems = ["protected/key is missing.", "Another."]
        },
        Fault("learning", .note, "Learning is off", "history on") { $0.store?.marks.learns = false },
        Fault("store.silent", .problem, "df") { $0.store = nil },
    ]
    static let serviceFaults = [
        Fault("running", .note, "No service runs", "enable --now") { $0.rest(.noSocket) },
        Fault("running", .note, "no process listens") { $0.rest(.nobody) },
        Fault("running", .problem, "process 42", "It was silent.") { $0.service?.answer = .failure("It was silent.") },
        Fault("version", .problem, "version 0.0.9", "command 0.1.0", "Stop it") {
            $0.service?.answer = .facts(.init(processIdentifier: 42, version: "0.0.9", uptime: 9, clients: 1))
        },
        Fault("version", .note, "was replaced") { $0.service?.isReplaced = true },
        Fault("service-descriptors", .note, "256 files", "LimitNOFILE") { $0.service?.descriptorLimit = 256 },
        Fault("units", .problem, "/usr/bin/searchlightd, which is not a program") {
            $0.activation?.service?.isProgramThere = false
        },
        Fault("units", .note, "systemd does not run") { $0.activation?.hasSystemd = false },
        Fault("units", .note, "not installed") { $0.activation?.socket = nil },
        Fault("units", .note, "not enabled", "enable --now") { $0.activation?.isSocketEnabled = false },
        Fault("units", .note, "not started with your session", "enable --now") {
            $0.activation?.isServiceEnabled = false
        },
        Fault("followed.watches", .problem, "3 folders", "max_user_watches") {
            $0.follow { status in status.unwatchedFolders = 3 }
        },
        Fault("followed.polled", .note, "/srv/share", "update") { $0.follow { $0.places[0].state = .polled } },
        Fault("followed.away", .note, "/srv/share", "status") { $0.follow { $0.places[0].state = .unavailable } },
        Fault("followed.failed", .problem, "/srv/share is not watched: it failed") {
            $0.follow { $0.places[0].state = .failed }
        },
        Fault("units", .note, "listens at /elsewhere") { $0.activation?.listens = "/elsewhere" },
        Fault("session-bus", .note, "There is no session bus") { $0.activation?.bus = .absent },
        Fault("session-bus", .problem, "It refused.") { $0.activation?.bus = .failed("It refused.") },
        Fault("session-bus", .note, "cannot start") { $0.activation?.bus = .reached(startsService: false) },
        Fault("runtime-folder", .note, "not set") { $0.activation?.runtimeFolder = nil },
        Fault("runtime-folder", .note, "is not a folder") { $0.activation?.runtimeFolder?.exists = false },
        Fault("runtime-folder", .problem, "mode 755", "read your searches") {
            $0.activation?.runtimeFolder?.mode = 0o755
        },
        Fault("service.silent", .problem, "the service did not end") { $0.service = nil },
        Fault("activation.silent", .problem, "activation of the service") { $0.activation = nil },
    ]
    static let extensionFaults = [
        Fault("none", .note, "No extension") { $0.extensions?.extensions = [] },
        Fault("refused", .problem, "/x is not used. It is broken.", "not indexed") {
            $0.extensions?.refusals = [.init(path: "/x", reason: "It is broken.", isShadowed: false)]
        },
        Fault("shadowed", .note, "/x is not used.") {
            $0.extensions?.refusals = [.init(path: "/x", reason: "Another comes first.", isShadowed: true)]
        },
        Fault("quarantine", .problem, "It crashed.", "release com.example.notes") {
            $0.extensions?.extensions[0].quarantine = "It crashed."
        },
        Fault("disabled", .note, "is disabled", "enable com") { $0.extensions?.extensions[0].isDisabled = true },
        Fault("set-aside", .note, "3 of its items") { $0.extensions?.extensions[0].itemsSetAside = 3 },
        Fault("library", .problem, "libcmark.so.1, which is not on this machine", "cannot be loaded") {
            $0.extensions?.extensions[0].missingLibraries = ["libcmark.so.1"]
        },
        Fault("bound-library", .note, "libx.so.2 or libx.so.1") {
            $0.extensions?.extensions[0].missingChoices = ["libx.so.2 or libx.so.1"]
        },
        Fault("compiler", .note, "a different Swift") {
            $0.extensions?.extensions[0].otherCompiler = "clang of swiftlang"
        },
        Fault("manifest", .note, "odd key") { $0.extensions?.extensions[0].warnings = ["It has an odd key."] },
        Fault("health", .problem, "extensions.json") { $0.extensions?.isHealthDamaged = true },
    ]

    @Test(
        "A fault is reported by its name, with its cost, and nothing else changes",
        arguments: kernelFaults + machineFaults + programFaults + storeFaults + serviceFaults + extensionFaults)
    func faults(fault: Fault) throws {
        let told = Diagnosis(.good(fault.change)).findings.filter { $0.level != .ok }
        let finding = try #require(told.first)
        #expect(told.count == 1, "\(told)")
        #expect(finding.name == fault.name && finding.level == fault.level, "\(finding)")
        let text = [finding.fact, finding.cost ?? "", finding.advice ?? ""].joined(separator: " ")
        for word in fault.words { #expect(text.contains(word), "\(text)") }
        #expect(finding.cost?.isEmpty == false)
        #expect(finding.fact.hasSuffix(".") || fault.name == "compiler", "\(finding.fact)")
    }

    @Test("A socket-activated service and a missing store are not faults")
    func notYet() {
        let facts = MachineFacts.good {
            $0.rest(.other)
            $0.store?.folder.exists = false
            $0.store?.database = nil
        }
        #expect(Diagnosis(facts).findings.allSatisfy { $0.level == .ok })
    }

    @Test("One of several sensors for the same condition is enough")
    func oneSensor() {
        let facts = MachineFacts.good { $0.lose(.upower, .idleMonitor, .terminals, .powerProfiles, .screenSaver) }
        #expect(Diagnosis(facts).findings.allSatisfy { $0.level == .ok })
    }

    @Test("A folder of broken extensions is reported within bounds")
    func manyRefusals() {
        let facts = MachineFacts.good {
            $0.extensions?.refusals = (0..<2000).map { .init(path: "/\($0)", reason: "Broken.", isShadowed: false) }
        }
        let told = Diagnosis(facts).findings.filter { $0.name == "refused" }
        #expect(told.count == ExtensionChecks.maximumTold + 1)
        #expect(told.last?.fact == "1984 more extensions are not used.")
    }
}

extension MachineFacts {
    /// Removes these sensors.
    fileprivate mutating func lose(_ lost: Sensor...) {
        for index in sensors?.sensors.indices ?? 0..<0 where lost.contains(sensors?.sensors[index].sensor ?? .disk) {
            sensors?.sensors[index].state = .absent("There is no system bus.")
        }
    }

    /// Makes the service follow a folder.
    fileprivate mutating func follow(_ change: (inout FollowedStatus) -> Void) {
        var status = FollowedStatus()
        status.places = [.init(bundle: "com.example.notes", path: "/srv/share", state: .watched)]
        change(&status)
        service?.answer = .facts(
            .init(processIdentifier: 42, version: "0.1.0", uptime: 9, clients: 1, followed: status))
    }

    /// Stops the service.
    fileprivate mutating func rest(_ listener: ServiceStateFacts.Listener) {
        service = ServiceStateFacts(listener: listener, answer: nil, descriptorLimit: nil, isReplaced: false)
    }
}
