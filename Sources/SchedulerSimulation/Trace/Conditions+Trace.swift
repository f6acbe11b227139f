// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import JSONText

extension Conditions {
    private static let keys = [
        "presence", "locked", "asleep", "resumed", "inhibitors", "power", "percent", "saving", "load", "cpu-pressure",
        "io-pressure", "memory-pressure", "hot", "free-disk",
    ]
    private static let maximumInhibitors = 16
    private static let maximumNameBytes = 256
    /// The largest disk size in bytes that a `Double` represents exactly.
    private static let largestDisk = 9_007_199_254_740_992.0

    /// Applies the changes in a line.
    mutating func take(_ fields: TraceFields, at moment: Double) throws(JSONProblem) {
        try fields.allow(Self.keys)
        let wasAsleep = isAsleep
        if let value = fields["presence"] { presence = try Self.presence(value, fields, moment) }
        if fields.has("locked") { isLocked = try fields.bool("locked", orNull: true) }
        if let new = try fields.bool("asleep") { isAsleep = new }
        if fields.has("resumed") {
            resumed = try fields.moment("resumed", orNull: true)
        } else if wasAsleep, !isAsleep {
            resumed = moment
        }
        if let value = fields["inhibitors"] { inhibitors = try Self.inhibitors(value, fields) }
        try takePower(fields)
        if fields.has("saving") { isSavingPower = try fields.bool("saving", orNull: true) }
        if fields.has("load") { otherLoad = try fields.number("load", 0...1, orNull: true) }
        if fields.has("cpu-pressure") { pressure.cpu = try fields.number("cpu-pressure", 0...1, orNull: true) }
        if fields.has("io-pressure") { pressure.io = try fields.number("io-pressure", 0...1, orNull: true) }
        if fields.has("memory-pressure") { pressure.memory = try fields.number("memory-pressure", 0...1, orNull: true) }
        if fields.has("hot") { isHot = try fields.bool("hot", orNull: true) }
        if fields.has("free-disk") {
            freeDisk = try fields.number("free-disk", 0...Self.largestDisk, orNull: true).map { UInt64($0) }
        }
    }

    private static func presence(
        _ value: JSONValue, _ fields: TraceFields, _ moment: Double
    ) throws(JSONProblem) -> Presence? {
        switch value {
        case .null: return nil
        case .text("active"): return .active
        case .text("away"): return .away(since: moment)
        case .object(let own):
            let own = TraceFields(own, clock: fields.clock, prefix: "presence.")
            try own.allow(["away"])
            if let since = try own.moment("away") { return .away(since: since) }
        default: break
        }
        throw fields.refuse("presence", allowed: #""active", "away", {"away": TIME} or null"#)
    }

    private static func inhibitors(_ value: JSONValue, _ fields: TraceFields) throws(JSONProblem) -> [Inhibitor] {
        guard case .list(let values) = value, values.count <= maximumInhibitors else {
            throw fields.refuse("inhibitors", allowed: "a list of at most \(maximumInhibitors) objects")
        }
        var inhibitors: [Inhibitor] = []
        for value in values {
            guard case .object(let one) = value else {
                throw fields.refuse(
                    "inhibitors", allowed: #"a list of objects {"who": TEXT, "why": TEXT, "own": false}"#)
            }
            let own = TraceFields(one, clock: nil, prefix: "inhibitors.")
            try own.allow(["who", "why", "own"])
            guard let who = try own.text("who", bytes: maximumNameBytes) else {
                throw own.refuse("who", allowed: "the name of a program")
            }
            inhibitors.append(
                Inhibitor(
                    who: who, why: try own.text("why", bytes: maximumNameBytes) ?? "",
                    isOwn: try own.bool("own") ?? false))
        }
        return inhibitors.sorted()
    }

    private mutating func takePower(_ fields: TraceFields) throws(JSONProblem) {
        switch fields["power"] {
        case nil: break
        case .null?: power = nil
        case .text("mains")?: power = Power(isOnBattery: false, percent: power?.percent)
        case .text("battery")?: power = Power(isOnBattery: true, percent: power?.percent)
        default: throw fields.refuse("power", allowed: #""mains", "battery" or null"#)
        }
        guard fields.has("percent") else { return }
        let percent = try fields.number("percent", 0...100, orNull: true)
        guard power != nil || percent == nil else {
            throw JSONProblem(#"“percent” needs “power”. Add "power"."#)
        }
        power?.percent = percent
    }

    // MARK: Writing

    /// Returns the changes from other conditions, as the fields of a line.
    func changes(since old: Conditions, at moment: Double, _ clock: TraceClock) -> [JSONValue.Field] {
        var fields: [JSONValue.Field] = []
        func add<Value: Equatable>(_ key: String, _ new: Value, _ old: Value, _ value: (Value) -> JSONValue) {
            if new != old { fields.append(JSONValue.Field(key: key, value: value(new))) }
        }
        func number(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
        func bool(_ value: Bool?) -> JSONValue { value.map { .bool($0) } ?? .null }
        add("presence", presence, old.presence) { presence in
            switch presence {
            case nil: .null
            case .active: .text("active")
            case .away(let since) where since == moment: .text("away")
            case .away(let since): .object([JSONValue.Field(key: "away", value: .text(clock.text(since)))])
            }
        }
        add("locked", isLocked, old.isLocked, bool)
        add("asleep", isAsleep, old.isAsleep) { .bool($0) }
        let isWaking = old.isAsleep && !isAsleep
        add("resumed", resumed, isWaking ? moment : old.resumed) { $0.map { .text(clock.text($0)) } ?? .null }
        add("inhibitors", inhibitors, old.inhibitors) { .list($0.map(\.value)) }
        add("power", power?.isOnBattery, old.power?.isOnBattery) { $0.map { .text($0 ? "battery" : "mains") } ?? .null }
        if power != nil { add("percent", power?.percent, old.power?.percent, number) }
        add("saving", isSavingPower, old.isSavingPower, bool)
        add("load", otherLoad, old.otherLoad, number)
        add("cpu-pressure", pressure.cpu, old.pressure.cpu, number)
        add("io-pressure", pressure.io, old.pressure.io, number)
        add("memory-pressure", pressure.memory, old.pressure.memory, number)
        add("hot", isHot, old.isHot, bool)
        add("free-disk", freeDisk, old.freeDisk) { number($0.map { Double($0) }) }
        return fields
    }
}

extension Conditions.Inhibitor {
    fileprivate var value: JSONValue {
        var fields = [
            JSONValue.Field(key: "who", value: .text(who)), JSONValue.Field(key: "why", value: .text(why)),
        ]
        if isOwn { fields.append(JSONValue.Field(key: "own", value: .bool(true))) }
        return .object(fields)
    }
}
