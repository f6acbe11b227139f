// SPDX-License-Identifier: Apache-2.0

extension ShippedTrace {
    static let officeDay = ShippedTrace(
        name: "laptop-office-day",
        summary: """
            A laptop on a desk, from eight to midnight: work is done at coffee, at lunch and in the evening, and hardly anything \
            while its owner types.
            """,
        lines: """
            {"at": "08:00", "conditions": {"presence": {"away": "-01:00"}, \(idle)}}
            {"at": "08:50", "job": "org.example.mail", "cpu": 360, "seconds": 420, "written": 90000000, "items": 6000, "pages": true}
            {"at": "08:55", "conditions": {"presence": "active", "load": 0.15}}
            {"at": "09:00", "job": "optimize", "cpu": 45, "written": 300000000}
            {"at": "09:10", "job": "org.example.notes", "cpu": 40, "written": 12000000, "items": 1200, "cooperative": false}
            {"at": "09:30", "conditions": {"load": 0.65, "cpu-pressure": 0.1}}
            {"at": "09:42", "conditions": {"load": 0.12, "cpu-pressure": 0}}
            {"at": "10:02", "job": "org.example.photos", "cpu": 1500, "seconds": 1300, "written": 700000000, "items": 18000, "pages": true}
            {"at": "10:30", "conditions": {"presence": "away", "load": 0.04}}
            {"at": "10:36", "conditions": {"presence": "active", "load": 0.2}}
            {"at": "11:15", "job": "org.example.mail", "cpu": 20, "written": 4000000, "items": 300, "pages": true}
            {"at": "11:58", "conditions": {"presence": "away", "locked": true, "load": 0.03}}
            {"at": "12:51", "conditions": {"presence": "active", "locked": false, "load": 0.18}}
            {"at": "13:00", "job": "org.example.calendar", "urgency": "expiry", "deadline": "150:00", "cpu": 15, "items": 400}
            {"at": "13:30", "conditions": {"inhibitors": [{"who": "Firefox", "why": "a call"}], "load": 0.35}}
            {"at": "14:15", "conditions": {"inhibitors": [], "load": 0.15}}
            {"at": "14:40", "throttle": "org.example.photos"}
            {"at": "14:50", "job": "org.example.feeds", "cpu": 360, "items": 900, "cooperative": false}
            {"at": "15:00", "conditions": {"presence": "away", "load": 0.03}}
            {"at": "15:04", "waiting": 1}
            {"at": "15:05:30", "waiting": 0}
            {"at": "15:06", "conditions": {"presence": "active", "load": 0.2}}
            {"at": "16:00", "job": "org.example.notes", "cpu": 8, "items": 60, "cooperative": false}
            {"at": "16:01", "run": "org.example.notes"}
            {"at": "16:30", "unthrottle": "org.example.photos"}
            {"at": "17:35", "conditions": {"presence": "away", "load": 0.03}}
            {"at": "17:50", "conditions": {"asleep": true}}
            {"at": "19:40", "conditions": {"asleep": false, "presence": "active", "power": "battery", "percent": 97, "load": 0.25}}
            {"at": "20:10", "job": "org.example.mail", "cpu": 15, "items": 150, "pages": true}
            {"at": "20:30", "conditions": {"percent": 80}}
            {"at": "21:05", "conditions": {"power": "mains", "load": 0.1}}
            {"at": "21:40", "conditions": {"presence": "away", "percent": 95, "load": 0.03}}
            {"at": "22:00", "job": "purge-expired", "cpu": 6, "written": 20000000}
            {"at": "24:00", "end": true}
            """)

    static let onBattery = ShippedTrace(
        name: "laptop-on-battery",
        summary: """
            A laptop on a train, without power from nine to two: what is urgent goes on slowly, nothing runs once the battery is \
            low, and everything is done soon after it is plugged in.
            """,
        lines: """
            {"at": "08:45", "conditions": {"presence": "active", \(idle)}}
            {"at": "09:00", "conditions": {"power": "battery", "percent": 92}}
            {"at": "09:05", "job": "org.example.mail", "cpu": 60, "written": 30000000, "items": 2000, "pages": true}
            {"at": "09:20", "conditions": {"presence": "away", "percent": 88}}
            {"at": "09:30", "job": "vacuum", "cpu": 30, "written": 800000000}
            {"at": "10:00", "conditions": {"presence": "active", "percent": 75, "load": 0.2}}
            {"at": "10:30", "conditions": {"percent": 64}}
            {"at": "11:00", "conditions": {"percent": 52, "saving": true}}
            {"at": "11:10", "job": "org.example.photos", "cpu": 200, "written": 90000000, "items": 3000, "pages": true}
            {"at": "11:30", "conditions": {"percent": 41, "load": 0.1}}
            {"at": "12:00", "conditions": {"presence": "away", "percent": 33, "load": 0.03}}
            {"at": "12:10", "conditions": {"percent": 30}}
            {"at": "12:12", "conditions": {"percent": 29}}
            {"at": "12:30", "job": "org.example.notes", "cpu": 20, "items": 500}
            {"at": "13:00", "conditions": {"percent": 24}}
            {"at": "13:40", "conditions": {"presence": "active", "percent": 20}}
            {"at": "13:55", "conditions": {"presence": "away"}}
            {"at": "14:00", "conditions": {"power": "mains", "percent": 19, "saving": false}}
            {"at": "14:30", "conditions": {"percent": 45}}
            {"at": "15:00", "end": true}
            """)

    static let resume = ShippedTrace(
        name: "resume-from-sleep",
        summary: """
            A laptop that falls asleep in the middle of work, twice: what runs is quiet before it sleeps, and nothing runs for a \
            minute after it wakes.
            """,
        lines: """
            {"at": "21:30", "conditions": {"presence": "active", \(idle)}}
            {"at": "22:00", "job": "org.example.mail", "cpu": 300, "written": 90000000, "items": 6000, "pages": true}
            {"at": "22:05", "job": "org.example.notes", "cpu": 400, "items": 2500, "cooperative": false}
            {"at": "22:10", "job": "org.example.feeds", "cpu": 20, "items": 200, "fails": 2}
            {"at": "22:15", "conditions": {"presence": "away"}}
            {"at": "22:19:20", "conditions": {"asleep": true}}
            {"at": "30:45", "conditions": {"asleep": false}}
            {"at": "30:52", "conditions": {"presence": "active", "load": 0.2}}
            {"at": "31:10", "conditions": {"presence": "away", "locked": true, "load": 0.03}}
            {"at": "31:12:40", "conditions": {"asleep": true}}
            {"at": "33:00", "conditions": {"asleep": false}}
            {"at": "34:00", "end": true}
            """)
}
