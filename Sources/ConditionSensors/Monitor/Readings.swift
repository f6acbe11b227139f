// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The latest readings of all sensors, and the conditions derived from them. A pure value.
struct Readings: Sendable {
    /// Evidence that the machine is used.
    enum Use: Hashable, Sendable {
        /// The machine is in use.
        case now
        /// The time of the last use.
        case last(Double)
    }
    /// The readings from logind.
    struct Sessions: Hashable, Sendable {
        /// The use of the user's own sessions.
        var own: Use?
        /// The use of other users' sessions.
        var others: Use?
        /// `true` if all sessions at the machine are locked.
        var isLocked: Bool?
        /// `true` if a session at the machine belongs to another user.
        var hasOthers = false
    }

    var sessions: Sessions?
    var inhibitors: [Conditions.Inhibitor] = []
    var isAsleep = false
    var resumed: Double?
    var compositor: Use?
    /// The lock states, by screen saver name.
    var screenSavers: [String: Bool] = [:]
    var terminals: Double?
    var isOnBattery: Bool?
    var percent: Double?
    var supplies: Conditions.Power?
    /// The power-saving states, by service name.
    var profiles: [String: Bool] = [:]
    var platform: Bool?
    var pressure = Conditions.Pressure()
    var otherLoad: Double?
    var isHot: Bool?
    var freeDisk: UInt64?

    /// The conditions, as far as they are known.
    var conditions: Conditions {
        var conditions = Conditions()
        conditions.presence = presence
        conditions.isLocked = isLocked
        conditions.isAsleep = isAsleep
        conditions.resumed = resumed
        conditions.inhibitors = inhibitors.sorted()
        conditions.power = power
        conditions.isSavingPower = isSavingPower
        conditions.otherLoad = otherLoad
        conditions.pressure = pressure
        conditions.isHot = isHot
        conditions.freeDisk = freeDisk
        return conditions
    }

    /// The presence according to the most recent evidence of use. For the user's own session, the
    /// compositor is more accurate than logind, which desktops update minutes later.
    private var presence: Conditions.Presence? {
        var latest: Double?
        for use in [compositor ?? sessions?.own, sessions?.others, terminals.map(Use.last)] {
            switch use {
            case .now: return .active
            case .last(let moment): latest = max(latest ?? moment, moment)
            case nil: break
            }
        }
        return latest.map { .away(since: $0) }
    }

    /// The lock state. A screen saver covers only the user's own session.
    private var isLocked: Bool? {
        let saver = screenSavers.isEmpty ? nil : screenSavers.values.contains(true)
        guard let sessions, let isLocked = sessions.isLocked else { return saver }
        return isLocked || (saver == true && !sessions.hasOthers)
    }

    private var power: Conditions.Power? {
        guard let isOnBattery else { return supplies }
        return Conditions.Power(isOnBattery: isOnBattery, percent: percent ?? supplies?.percent)
    }

    private var isSavingPower: Bool? {
        let known = Array(profiles.values) + (platform.map { [$0] } ?? [])
        return known.isEmpty ? nil : known.contains(true)
    }
}
