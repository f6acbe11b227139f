// SPDX-License-Identifier: Apache-2.0
import Foundation

extension SchedulingPolicy {
    /// The largest configuration, in bytes.
    public static let maximumConfigurationBytes = 65536

    /// Reads a configuration: a JSON object with the keys of ``PolicySetting/all`` and numbers, and `gates`, an object with
    /// names of gates and for each `false` (always open), `true` (as it is), a score from 1 to 1000 at which it is relaxed,
    /// or `null` (never relaxed). What it does not name stays as it is.
    public init(configuration: Data) throws(PolicyError) {
        guard configuration.count <= Self.maximumConfigurationBytes else {
            throw .unreadable(
                "it has \(configuration.count) bytes; allowed are \(Self.maximumConfigurationBytes).")
        }
        let values: [String: ConfigurationValue]
        do {
            values = try JSONDecoder().decode([String: ConfigurationValue].self, from: configuration)
        } catch {
            let fault = Self.fault(in: configuration).map { " It is not valid JSON: \($0)." } ?? ""
            throw .unreadable("it has to be a JSON object, as docs/SCHEDULING.md describes it.\(fault)")
        }
        self.init()
        let settings = Dictionary(PolicySetting.all.map { ($0.key, $0) }, uniquingKeysWith: { one, _ in one })
        // Sorted, so that of several mistakes always the same is told.
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if key == "gates" {
                try set(gates: value)
            } else if let setting = settings[key] {
                try set(setting, value)
            } else {
                throw .unknownKey(key.shortened)
            }
        }
        try checkContradictions()
    }

    /// What is wrong with JSON, and where. The decoder knows and does not tell; its older sibling does.
    private static func fault(in configuration: Data) -> String? {
        do {
            _ = try JSONSerialization.jsonObject(with: configuration, options: .fragmentsAllowed)
            return nil
        } catch {
            let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
            return text.map { String(($0.hasSuffix(".") ? String($0.dropLast()) : $0).prefix(200)) }
        }
    }

    private mutating func set(_ setting: PolicySetting, _ value: ConfigurationValue) throws(PolicyError) {
        guard case .number(let number) = value, setting.range.contains(number) else {
            let range = setting.range
            let unit = setting.unit.isEmpty || setting.unit == "share" ? "" : " \(setting.unit)"
            throw .badValue(
                key: setting.key, value: value.description,
                allowed: "a number from \(range.lowerBound.plain) to \(range.upperBound.plain)\(unit)")
        }
        self[keyPath: setting.path] = number
    }

    private mutating func set(gates value: ConfigurationValue) throws(PolicyError) {
        guard case .object(let gates) = value else {
            throw .badValue(key: "gates", value: value.description, allowed: "an object with names of gates")
        }
        for (name, value) in gates.sorted(by: { $0.key < $1.key }) {
            guard let gate = Gate(code: name) else { throw .unknownKey("gates.\(name.shortened)") }
            switch value {
            case .bool(true): break
            case .bool(false) where gate.isSwitchable: switchedOff.insert(gate)
            case .null where gate.isRelaxable: relaxations[gate] = nil
            case .number(let score) where gate.isRelaxable && (1...Self.highestScore).contains(score):
                relaxations[gate] = score
            default:
                throw .badValue(key: "gates.\(name)", value: value.description, allowed: Self.allowed(for: gate))
            }
        }
    }

    private static func allowed(for gate: Gate) -> String {
        guard gate.isSwitchable else { return "true; this gate always holds" }
        guard gate.isRelaxable else { return "true or false; no job ever passes this gate" }
        return "true, false, null, or a score from 1 to \(highestScore.plain) from which jobs pass it slowly"
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
                key: key, value: value.plain, allowed: "it may not be more than \(upperKey), which is \(upper.plain)")
        }
        guard sliceRelaxed * 10 <= slicePeriod else {
            throw .contradiction(
                key: "slice.relaxed", value: sliceRelaxed.plain,
                allowed: "it may not be more than a tenth of slice.period, which is \(slicePeriod.plain)")
        }
    }
}

/// A value in a configuration.
private enum ConfigurationValue: Decodable, CustomStringConvertible {
    case bool(Bool)
    case number(Double)
    case text(String)
    case object([String: ConfigurationValue])
    case null
    case list

    init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
            var object: [String: ConfigurationValue] = [:]
            for key in keyed.allKeys {
                object[key.stringValue] = try keyed.decode(ConfigurationValue.self, forKey: key)
            }
            self = .object(object)
            return
        }
        guard let single = try? decoder.singleValueContainer() else {
            self = .list
            return
        }
        if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? single.decode(Double.self) {
            self = .number(number)
        } else if let text = try? single.decode(String.self) {
            self = .text(text)
        } else {
            self = .list
        }
    }

    var description: String {
        switch self {
        case .bool(let bool): "\(bool)"
        case .number(let number): number.plain
        case .text(let text): "“\(text.shortened)”"
        case .object: "an object"
        case .null: "null"
        case .list: "a list"
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension String {
    /// The beginning, for a message.
    fileprivate var shortened: String { count <= 64 ? self : prefix(64) + "…" }
}

extension Double {
    /// As people write it: without a point if it is whole.
    package var plain: String {
        self == rounded() && abs(self) < 1e15 ? "\(Int64(self))" : "\(self)"
    }
}
