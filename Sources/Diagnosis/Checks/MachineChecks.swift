// SPDX-License-Identifier: Apache-2.0
import ConditionSensors

/// Checks the sensors that control background work. If several sensors measure the same condition,
/// one of them is enough.
enum MachineChecks {
    private struct Question {
        var name: String
        var what: String
        var sensors: [Sensor]
        var cost: String
        var advice: String?
    }

    private static let questions = [
        Question(
            name: "presence", what: "user activity",
            sensors: [.idleMonitor, .logind, .terminals],
            cost: "Background work also runs during your activity.",
            advice: "Run systemd-logind or elogind (Debian: libpam-systemd, or libpam-elogind)."),
        Question(
            name: "lock", what: "the lock of the screen", sensors: [.logind, .screenSaver],
            cost: "Background work starts some minutes later than possible.",
            advice: "Run systemd-logind, or a screen saver on the session bus."),
        Question(
            name: "power", what: "mains power", sensors: [.upower, .powerSupply],
            cost: "Background work may drain a battery.", advice: "Install UPower (Debian: upower)."),
        Question(
            name: "power-saving", what: "the power saver", sensors: [.powerProfiles, .platformProfile],
            cost: "Background work ignores the power saver.",
            advice: "On a laptop, install power-profiles-daemon."),
        Question(
            name: "pressure", what: "pressure on processors, disks and memory (/proc/pressure)",
            sensors: [.pressure], cost: "Background work ignores busy disks.",
            advice: "Start the kernel with psi=1."),
        Question(
            name: "pressure-notices", what: "sudden pressure (triggers in /proc/pressure)",
            sensors: [.pressureTriggers], cost: "Background work pauses half a second later.",
            advice: "Start the kernel with psi=1; in a container, make /proc/pressure writable."),
        Question(
            name: "load", what: "the processor use of other programs", sensors: [.load],
            cost: "Background work does not wait for busy programs.", advice: "Mount /proc."),
        Question(
            name: "heat", what: "the temperature", sensors: [.thermal],
            cost: "Background work continues on a hot machine.", advice: nil),
        Question(
            name: "free-disk", what: "the free space of the store's disk", sensors: [.disk],
            cost: "Background work may fill the disk.", advice: nil),
    ]

    static func findings(_ report: MonitorReport) -> [Finding] {
        var told: [String] = []
        var findings: [Finding] = []
        for question in questions {
            let states = question.sensors.map { (sensor: $0, state: report[$0]) }
            if states.contains(where: { $0.state == .inUse }) {
                told.append(question.name)
                continue
            }
            let reasons = states.compactMap { reason($0.state) }
            let because = reasons.isEmpty ? "" : " " + reasons.joined(separator: " ")
            findings.append(
                .note(
                    .machine, question.name, "No sensor reports \(question.what).\(because)", costs: question.cost,
                    advice: question.advice))
        }
        if !told.isEmpty {
            findings.insert(
                .ok(
                    .machine, "sensors", "The scheduler has its sensors: \(told.joined(separator: ", "))."
                ), at: 0)
        }
        return findings
    }

    private static func reason(_ state: MonitorReport.State) -> String? {
        switch state {
        case .absent(let text), .failed(let text): text
        case .inUse, .resting: nil
        }
    }
}
