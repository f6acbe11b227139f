// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchlightEngine

@testable import ConditionSensors
@testable import Diagnosis

extension MachineFacts {
    /// Returns a machine without faults, with the given changes.
    static func good(_ change: (inout MachineFacts) -> Void = { _ in }) -> MachineFacts {
        let home = "/home/ada/.local/share/searchlight/store"
        var facts = MachineFacts(
            kernel: KernelFacts(
                release: "6.12.0", protections: .all, landlockRevision: 6, isSandboxOff: false, abilities: .all,
                tracingScope: 1, descriptorLimit: 1024),
            sensors: MonitorReport(mode: .running, sensors: Sensor.allCases.map { .init(sensor: $0, state: .inUse) }),
            programs: ProgramFacts(
                version: "0.1.0", worker: "/usr/libexec/searchlight/searchlight-worker", isWorkerThere: true,
                isQuickLookThere: true,
                frameworkFolder: "/usr/lib/searchlight", found: ["xdg-open", "rsvg-convert"], policyFailure: nil,
                workerFolder: .owned("/home/ada/.cache/searchlight/workers")),
            store: StoreFacts(
                folder: .owned(home), database: FileFacts(owner: 1000, mode: 0o600),
                mount: Mount(line: "36 35 8:1 / / rw,noatime shared:1 - ext4 /dev/sda1 rw"),
                diskScheduler: "mq-deadline", free: 100 << 30, floor: 2 << 30),
            service: ServiceStateFacts(
                listener: .service(process: 42),
                answer: .facts(.init(processIdentifier: 42, version: "0.1.0", uptime: 9, clients: 1)),
                descriptorLimit: 1024, isReplaced: false),
            activation: ActivationFacts(
                service: .init(
                    path: "/usr/lib/systemd/user/searchlightd.service", program: "/usr/bin/searchlightd",
                    isProgramThere: true),
                socket: .init(path: "/usr/lib/systemd/user/searchlightd.socket", program: nil, isProgramThere: true),
                isSocketEnabled: true, isServiceEnabled: true, listens: home + "/socket", wanted: home + "/socket",
                busFile: nil,
                bus: .reached(startsService: true), runtimeFolder: .owned("/run/user/1000"), hasSystemd: true),
            extensions: ExtensionFacts(
                searchPath: ["/usr/share/searchlight/extensions"], extensions: [.good()], refusals: [],
                isHealthDamaged: false),
            patience: 2)
        change(&facts)
        return facts
    }
}

extension FolderFacts {
    /// Returns the facts of an existing folder that only this user can access.
    static func owned(_ path: String) -> FolderFacts {
        FolderFacts(
            path: path, exists: true, nearest: path, isFolder: true, isWritable: true, owner: 1000, mode: 0o700,
            user: 1000)
    }
}

extension ExtensionFacts.Extension {
    static func good(_ identifier: String = "com.example.notes") -> Self {
        Self(
            identifier: identifier, missingLibraries: [], missingChoices: [], otherCompiler: nil, isDisabled: false,
            quarantine: nil, itemsSetAside: 0, warnings: [])
    }
}
