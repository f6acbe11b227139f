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
            name: "presence", what: "whether somebody works at the machine",
            sensors: [.idleMonitor, .logind, .terminals],
            cost: "Work in the background begins while you work, too.",
            advice: "Run systemd-logind or elogind (Debian: libpam-systemd, or libpam-elogind)."),
        Question(
            name: "lock", what: "whether the screen is locked", sensors: [.logind, .screenSaver],
            cost: "Work in the background begins some minutes later than it could.",
            advice: "It takes systemd-logind, or a screen saver on the session bus."),
        Question(
            name: "power", what: "whether the machine is on mains", sensors: [.upower, .powerSupply],
            cost: "Work in the background may use up a battery.", advice: "Install UPower (Debian: upower)."),
        Question(
            name: "power-saving", what: "whether power is to be saved", sensors: [.powerProfiles, .platformProfile],
            cost: "Power saving that you choose does not hold up work in the background.",
            advice: "On a laptop, install power-profiles-daemon."),
        Question(
            name: "pressure", what: "how much waits for processors, disks and memory (/proc/pressure)",
            sensors: [.pressure], cost: "Work in the background sees only busy processors, not busy disks.",
            advice: "Start the kernel with psi=1."),
        Question(
            name: "pressure-notices", what: "sudden pressure (triggers in /proc/pressure)",
            sensors: [.pressureTriggers], cost: "Work in the background gives way half a second later.",
            advice: "Start the kernel with psi=1; in a container, let /proc/pressure be written."),
        Question(
            name: "load", what: "how much others use the processors", sensors: [.load],
            cost: "Work in the background does not wait for busy programs.", advice: "Mount /proc."),
        Question(
            name: "heat", what: "whether something is hot", sensors: [.thermal],
            cost: "Work in the background goes on while the machine is hot.", advice: nil),
        Question(
            name: "free-disk", what: "how much of the store's disk is free", sensors: [.disk],
            cost: "Work in the background may fill the disk.", advice: nil),
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
                    .machine, question.name, "Nothing tells \(question.what).\(because)", costs: question.cost,
                    advice: question.advice))
        }
        if !told.isEmpty {
            findings.insert(
                .ok(
                    .machine, "sensors", "The machine tells what the schedule goes by: \(told.joined(separator: ", "))."
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
