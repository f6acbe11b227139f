// SPDX-License-Identifier: Apache-2.0
import BusTransport
import IdleScheduling

/// What logind says of one session (org.freedesktop.login1(5)).
struct LoginSession: Hashable {
    private var values: [String: ForeignValue] = [:]

    static let interface = "org.freedesktop.login1.Session"
    /// What matters of it.
    static let names: Set<String> = [
        "Active", "Class", "IdleHint", "IdleSinceHint", "LockedHint", "State", "Type", "User",
    ]

    mutating func take(_ new: [String: ForeignValue]) {
        for name in Self.names { if let value = new[name] { values[name] = value } }
    }

    /// Whether somebody may sit before it: not a log-in screen, not a background job, not one that was switched away from or is
    /// ending. Of terminals logind tells nothing by itself.
    var isAtTheMachine: Bool {
        guard let kind = values["Class"]?.text, kind == "user" || kind.hasPrefix("user-"),
            let type = values["Type"]?.text, ["x11", "wayland", "mir", "web"].contains(type)
        else { return false }
        return values["Active"]?.boolean == true && values["State"]?.text != "closing"
    }

    /// Whose it is.
    var user: UInt64? { values["User"]?.members.first?.unsigned }

    var isLocked: Bool? { values["LockedHint"]?.boolean }

    /// What it says of its use. Nobody has told logind anything if the hint is false since ever: some desktops never do. At a
    /// locked screen nobody works.
    func use(_ roots: SensorRoots) -> Readings.Use? {
        guard let isIdle = values["IdleHint"]?.boolean, let since = values["IdleSinceHint"]?.unsigned, since > 0 else {
            return nil
        }
        if isIdle { return roots.moment(since1970: Double(since) / 1e6).map { .last($0) } }
        return isLocked == true ? nil : .now
    }

    /// What all sessions say together.
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
    /// The most that count, and the most bytes of what each says.
    static let maximumCount = 32
    private static let maximumText = 200

    /// Reads one of `ListInhibitors`: what, who, why, mode, user, process. Who asks that the machine not become idle shows a
    /// film or gives a talk; who only asks that it not sleep or be switched off copies something, and is not disturbed by work.
    init?(login value: ForeignValue) {
        let fields = value.members.prefix(4).compactMap(\.text)
        guard fields.count == 4, fields[0].split(separator: ":").contains("idle"), fields[3].hasPrefix("block") else {
            return nil
        }
        self.init(who: Self.cut(fields[1]), why: Self.cut(fields[2]), isOwn: false)
    }

    /// By bytes: one character may have as many of them as it likes.
    private static func cut(_ text: String) -> String { String(decoding: text.utf8.prefix(maximumText), as: UTF8.self) }
}
