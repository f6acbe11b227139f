// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSONText

extension SchedulingPolicy {
    /// The maximum size of a configuration, in bytes.
    public static let maximumConfigurationBytes = 65536

    /// Parses a configuration, which is a JSON object. Settings whose keys are missing keep their
    /// defaults.
    ///
    /// It has the keys of ``PolicySetting/all``, with numbers as values, and `gates`. `gates` is
    /// an object that maps gate names to one of these values:
    ///
    /// - `false`: the gate is always open.
    /// - `true`: the default.
    /// - A score from 1 to 1000: jobs with at least this score may pass the gate at a low rate.
    /// - `null`: no job may pass the gate.
    public init(configuration: Data) throws(PolicyError) {
        guard configuration.count <= Self.maximumConfigurationBytes else {
            throw .unreadable(
                "it has \(configuration.count) bytes; the limit is \(Self.maximumConfigurationBytes).")
        }
        let values: [String: JSONValue]
        do throws(JSONProblem) {
            let value = try JSONValue(reading: Array(configuration)[...], maximumDepth: 4)
            guard let members = value.members else { throw JSONProblem("it is \(value.shown).") }
            values = members
        } catch {
            let fault = error.text.prefix(1).uppercased() + error.text.dropFirst()
            throw .unreadable("it is not a JSON object as in docs/SCHEDULING.md. \(fault)")
        }
        self.init()
        let settings = Dictionary(PolicySetting.all.map { ($0.key, $0) }, uniquingKeysWith: { one, _ in one })
        // Sorted, so that if there are several errors, the same one is always reported.
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if key == "gates" {
                try set(gates: value)
            } else if let setting = settings[key] {
                try set(setting, value)
            } else {
                throw .unknownKey(key.cut)
            }
        }
        try checkContradictions()
    }

    private mutating func set(_ setting: PolicySetting, _ value: JSONValue) throws(PolicyError) {
        guard let number = value.number, setting.range.contains(number) else {
            let range = setting.range
            let unit = setting.unit.isEmpty || setting.unit == "share" ? "" : " \(setting.unit)"
            throw .badValue(
                key: setting.key, value: value.shown,
                allowed: "a number from \(range.lowerBound.plain) to \(range.upperBound.plain)\(unit)")
        }
        self[keyPath: setting.path] = number
    }

    private mutating func set(gates value: JSONValue) throws(PolicyError) {
        guard let gates = value.members else {
            throw .badValue(key: "gates", value: value.shown, allowed: "an object with names of gates")
        }
        for (name, value) in gates.sorted(by: { $0.key < $1.key }) {
            guard let gate = Gate(code: name) else { throw .unknownKey("gates.\(name.cut)") }
            switch value {
            case .bool(true): break
            case .bool(false) where gate.isSwitchable: switchedOff.insert(gate)
            case .null where gate.isRelaxable: relaxations[gate] = nil
            default:
                if let score = value.number, gate.isRelaxable, (1...Self.highestScore).contains(score) {
                    relaxations[gate] = score
                    continue
                }
                throw .badValue(key: "gates.\(name)", value: value.shown, allowed: Self.allowed(for: gate))
            }
        }
    }

    private static func allowed(for gate: Gate) -> String {
        guard gate.isSwitchable else { return "true; this gate cannot be switched off" }
        guard gate.isRelaxable else { return "true or false; no job bypasses this gate" }
        return
            "true, false, null, or the score from 1 to \(highestScore.plain) at which jobs start to bypass it at low rate"
    }

    // MARK: Contradictions

    private func checkContradictions() throws(PolicyError) {
        let measured = MeasuredGate.all.map { gate -> (String, Double, String, Double) in
            let opens = (gate.gate.code + ".opens", gate.opens(self))
            let closes = (gate.gate.code + ".closes", gate.closes(self, false))
            let (lower, upper) = gate.closesAbove ? (opens, closes) : (closes, opens)
            return (lower.0, lower.1, upper.0, upper.1)
        }
        let pairs =
            measured + [
                ("io-pressure.closes", ioPressureCloses, "io-pressure.running", ioPressureRunning),
                ("slice.relaxed", sliceRelaxed, "slice.full", sliceFull),
                ("pause.shortest", pauseShortest, "pause.longest", pauseLongest),
                ("turn.patience", turnPatience, "pause.longest", pauseLongest),
                ("pause.longest", pauseLongest, "pause.longest-ever", pauseLongestEver),
                ("quota.cpu", quotaCPU, "quota.window", quotaWindow),
            ]
        for (key, value, upperKey, upper) in pairs where value > upper {
            throw .contradiction(
                key: key, value: value.plain, allowed: "it must be at most \(upperKey), which is \(upper.plain)")
        }
        guard sliceRelaxed * 10 <= slicePeriod else {
            throw .contradiction(
                key: "slice.relaxed", value: sliceRelaxed.plain,
                allowed: "it must be at most a tenth of slice.period, which is \(slicePeriod.plain)")
        }
    }
}
