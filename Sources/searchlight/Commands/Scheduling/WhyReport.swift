// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SearchlightEngine

extension JSONObject {
    /// The report on jobs, as JSON. Times are in UTC; days are local calendar days.
    init(_ report: ScheduleReport) {
        let sensors = (report.sensors?.sensors ?? []).map { ($0.sensor.rawValue, $0.state.words) }
        self = [
            "moment": Self.text(report.moment) ?? "", "isScheduling": report.isScheduling,
            "conditions": JSONObject(report.conditions),
            "sensors": Dictionary(sensors, uniquingKeysWith: { one, _ in one }), "throttled": report.throttled,
            "jobs": report.jobs.map { JSONObject($0, days: $0.key.bundle.flatMap { report.days[$0] }) },
        ]
    }

    private init(_ job: JobExplanation, days: [DayLedger.Entry]?) {
        self = [
            "job": job.key.name, "decision": job.decision.rawValue, "urgency": job.job?.urgency.rawValue,
            "isFresh": job.job?.isFresh,
            "requested": Self.text(job.job?.requested), "deadline": Self.text(job.job?.deadline),
            "ageSeconds": job.age, "toleranceSeconds": job.tolerance, "score": job.score,
            "gates": job.gates.map { gate -> JSONObject in
                [
                    "gate": gate.gate.code, "state": gate.state.rawValue, "measured": gate.measured,
                    "limit": gate.limit, "unit": gate.unit?.rawValue, "opens": Self.text(gate.opens),
                    "relaxes": Self.text(gate.relaxes), "remedy": gate.remedy,
                ]
            },
            "quota": job.quota, "nextLook": Self.text(job.nextLook),
            "days": days?.map { day -> JSONObject in
                [
                    "day": LocalDay.text(day.day), "usage": day.usage, "items": day.items, "failures": day.failures,
                    "runs": day.runs,
                ]
            },
        ]
    }

    private init(_ conditions: Conditions) {
        let (presence, since): (String?, Double?) =
            switch conditions.presence {
            case nil: (nil, nil)
            case .active: ("active", nil)
            case .away(let since): ("away", since)
            }
        self = [
            "presence": presence, "awaySince": Self.text(since), "isLocked": conditions.isLocked,
            "isAsleep": conditions.isAsleep, "resumed": Self.text(conditions.resumed),
            "inhibitors": conditions.inhibitors, "power": conditions.power,
            "isSavingPower": conditions.isSavingPower, "otherLoad": conditions.otherLoad,
            "pressure": conditions.pressure, "isHot": conditions.isHot, "freeDisk": conditions.freeDisk,
        ]
    }

    private static func text(_ seconds: Double?) -> String? { seconds.map(moment) }
}
