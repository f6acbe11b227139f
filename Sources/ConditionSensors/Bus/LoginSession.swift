// SPDX-License-Identifier: Apache-2.0
import BusTransport
import IdleScheduling

/// The properties of a logind session (org.freedesktop.login1(5)).
package struct LoginSession: Hashable, Sendable {
    private var values: [String: ForeignValue] = [:]

    package init() {}

    package static let interface = "org.freedesktop.login1.Session"
    /// The names of the properties that are used.
    static let names: Set<String> = [
        "Active", "Class", "IdleHint", "IdleSinceHint", "LockedHint", "State", "Type", "User",
    ]

    package mutating func take(_ new: [String: ForeignValue]) {
        for name in Self.names { if let value = new[name] { values[name] = value } }
    }

    /// `true` for a user's session on a display that is not closing. Login screens and background
    /// sessions do not count. logind reports neither locks nor input for terminals.
    package var isGraphical: Bool {
        guard let kind = values["Class"]?.text, kind == "user" || kind.hasPrefix("user-"),
            let type = values["Type"]?.text, ["x11", "wayland", "mir", "web"].contains(type)
        else { return false }
        return values["State"]?.text != "closing"
    }

    /// `true` if a user may be at this session. Inactive sessions do not count.
    var isAtTheMachine: Bool { isGraphical && values["Active"]?.boolean == true }

    /// The user ID of the session's owner.
    package var user: UInt64? { values["User"]?.members.first?.unsigned }

    /// `true` if the desktop says that the session is locked; `nil` if it does not say.
    package var isLocked: Bool? { values["LockedHint"]?.boolean }

    /// Returns the time of the session's last use; `nil` if the idle hint was never set, since some
    /// desktops never set it. A locked session is not in use.
    func use(_ roots: SensorRoots) -> Readings.Use? {
        guard let isIdle = values["IdleHint"]?.boolean, let since = values["IdleSinceHint"]?.unsigned, since > 0 else {
            return nil
        }
        if isIdle { return roots.moment(since1970: Double(since) / 1e6).map { .last($0) } }
        return isLocked == true ? nil : .now
    }

    /// Returns the combined properties of all sessions.
    static func summary(_ sessions: some Collection<LoginSession>, _ roots: SensorRoots) -> Readings.Sessions {
        let present = sessions.filter(\.isAtTheMachine)
        let (own, others) = (
            present.filter { $0.user == UInt64(roots.user) }, present.filter { $0.user != UInt64(roots.user) }
        )
        let locks = present.compactMap(\.isLocked)
        return Readings.Sessions(
            own: latest(own, roots), others: latest(others, roots),
            isLocked: locks.isEmpty ? nil : !locks.contains(false),
            hasOthers: !others.isEmpty)
    }

    private static func latest(_ sessions: [LoginSession], _ roots: SensorRoots) -> Readings.Use? {
        var moment: Double?
        for use in sessions.compactMap({ $0.use(roots) }) {
            switch use {
            case .now: return .now
            case .last(let last): moment = max(moment ?? last, last)
            }
        }
        return moment.map { .last($0) }
    }
}

extension Conditions.Inhibitor {
    /// The maximum number of inhibitors. `maximumText` is the maximum length of each text, in
    /// bytes.
    static let maximumCount = 32
    private static let maximumText = 200

    /// Reads an entry of `ListInhibitors`: what, who, why, mode, user, process.
    ///
    /// A program that inhibits idle is showing a film or a presentation. A program that inhibits
    /// only sleep or shutdown is, for example, copying data, and background work does not disturb
    /// it.
    init?(login value: ForeignValue) {
        let fields = value.members.prefix(4).compactMap(\.text)
        guard fields.count == 4, fields[0].split(separator: ":").contains("idle"), fields[3].hasPrefix("block") else {
            return nil
        }
        self.init(who: Self.cut(fields[1]), why: Self.cut(fields[2]), isOwn: false)
    }

    /// Cuts at bytes, because one character may consist of any number of bytes.
    private static func cut(_ text: String) -> String { String(decoding: text.utf8.prefix(maximumText), as: UTF8.self) }
}
