// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// What all sensors said last, and what that means together. Pure.
struct Readings: Sendable {
    /// A sign that somebody uses the machine.
    enum Use: Hashable, Sendable {
        /// Now.
        case now
        /// Last at a moment.
        case last(Double)
    }
    /// What logind says.
    struct Sessions: Hashable, Sendable {
        /// Of the user's own sessions.
        var own: Use?
        /// Of other persons' sessions.
        var others: Use?
        /// Whether the sessions at the machine are locked, all of them.
        var isLocked: Bool?
        /// Whether a session of somebody else is one of those.
        var hasOthers = false
    }

    var sessions: Sessions?
    var inhibitors: [Conditions.Inhibitor] = []
    var isAsleep = false
    var resumed: Double?
    var compositor: Use?
    /// By the name of the screen saver.
    var screenSavers: [String: Bool] = [:]
    var terminals: Double?
    var isOnBattery: Bool?
    var percent: Double?
    var supplies: Conditions.Power?
    /// By the name of the service.
    var profiles: [String: Bool] = [:]
    var platform: Bool?
    var pressure = Conditions.Pressure()
    var otherLoad: Double?
    var isHot: Bool?
    var freeDisk: UInt64?

    /// What the machine is like, as far as is known.
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

    /// The freshest sign of use counts. Of the user's own session the compositor knows more than logind, which a desktop tells
    /// minutes later.
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

    /// A screen saver knows of the user's session alone.
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
