// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine

/// What is said about jobs, as JSON. Moments are in UTC, days are those of the calendar here.
struct WhyReport: Encodable {
    struct Job: Encodable {
        struct GateReport: Encodable {
            var gate: String
            var state: String
            var measured: Double?
            var limit: Double?
            var unit: String?
            var opens: String?
            var relaxes: String?
            var remedy: String?
        }
        var job: String
        var decision: String
        var urgency: String?
        var requested: String?
        var deadline: String?
        var ageSeconds: Double
        var toleranceSeconds: Double
        var score: Double
        var gates: [GateReport]
        var quota: JobExplanation.Quota?
        var nextLook: String?
        var days: [Day]?
    }
    struct Day: Encodable {
        /// Of the calendar here.
        var day: String
        var usage: Usage
        var items: Int
        var failures: Int
        var runs: Int

        init(_ entry: DayLedger.Entry) {
            day = LocalDay.text(entry.day)
            (usage, items, failures, runs) = (entry.usage, entry.items, entry.failures, entry.runs)
        }
    }
    struct Machine: Encodable {
        var presence: String?
        var awaySince: String?
        var isLocked: Bool?
        var isAsleep: Bool
        var resumed: String?
        var inhibitors: [Conditions.Inhibitor]
        var power: Conditions.Power?
        var isSavingPower: Bool?
        var otherLoad: Double?
        var pressure: Conditions.Pressure
        var isHot: Bool?
        var freeDisk: UInt64?

        init(_ conditions: Conditions) {
            switch conditions.presence {
            case nil: break
            case .active: presence = "active"
            case .away(let since): (presence, awaySince) = ("away", WhyReport.text(since))
            }
            (isLocked, isAsleep) = (conditions.isLocked, conditions.isAsleep)
            resumed = WhyReport.text(conditions.resumed)
            (inhibitors, power, isSavingPower) = (conditions.inhibitors, conditions.power, conditions.isSavingPower)
            (otherLoad, pressure, isHot) = (conditions.otherLoad, conditions.pressure, conditions.isHot)
            freeDisk = conditions.freeDisk
        }
    }
    var moment: String
    var isScheduling: Bool
    var conditions: Machine
    var sensors: [String: String]
    var throttled: [String]
    var jobs: [Job]

    init(_ report: ScheduleReport) {
        let text = Self.text
        moment = text(report.moment) ?? ""
        (isScheduling, throttled) = (report.isScheduling, report.throttled)
        conditions = Machine(report.conditions)
        sensors = Dictionary(
            (report.sensors?.sensors ?? []).map { ($0.sensor.rawValue, $0.state.words) },
            uniquingKeysWith: { one, _ in one })
        jobs = report.jobs.map { job in
            Job(
                job: job.key.name, decision: job.decision.rawValue, urgency: job.job?.urgency.rawValue,
                requested: text(job.job?.requested), deadline: text(job.job?.deadline), ageSeconds: job.age,
                toleranceSeconds: job.tolerance, score: job.score,
                gates: job.gates.map { gate in
                    Job.GateReport(
                        gate: gate.gate.code, state: gate.state.rawValue, measured: gate.measured,
                        limit: gate.limit, unit: gate.unit?.rawValue, opens: text(gate.opens),
                        relaxes: text(gate.relaxes), remedy: gate.remedy)
                },
                quota: job.quota, nextLook: text(job.nextLook),
                days: job.key.bundle.flatMap { report.days[$0]?.map(Day.init) })
        }
    }

    private static func text(_ moment: Double?) -> String? {
        moment.map { Date(timeIntervalSinceReferenceDate: min(max($0, -1e10), 1e11)).ISO8601Format() }
    }
}
