// SPDX-License-Identifier: Apache-2.0

extension ShippedTrace {
    static let buildServer = ShippedTrace(
        name: "build-server",
        summary: """
            A server at which nobody sits, with a build of twelve minutes every half an hour: the index follows each build \
            while the processors are free, and never during one.
            """,
        lines: """
            {"at": "08:00", "conditions": {"presence": null, \(idle)}}
            {"at": "08:00", "job": "optimize", "cpu": 500, "seconds": 900, "written": 900000000}
            \(builds.joined(separator: "\n"))
            {"at": "16:00", "end": true}
            """)

    /// Sixteen builds; each writes what is to be found afterwards.
    private static let builds: [String] = (0..<16).flatMap { number in
        func time(_ minute: Int) -> String {
            let minutes = 8 * 60 + number * 30 + minute
            return (minutes / 60 < 10 ? "0" : "") + "\(minutes / 60):" + (minutes % 60 < 10 ? "0" : "")
                + "\(minutes % 60)"
        }
        return [
            """
            {"at": "\(time(2))", "conditions": {"load": 0.92, "cpu-pressure": 0.45, "io-pressure": 0.12}}
            """,
            """
            {"at": "\(time(9))", "conditions": {"load": 0.6, "cpu-pressure": 0.2, "io-pressure": 0.35}}
            """,
            """
            {"at": "\(time(12))", "job": "org.example.sources", "cpu": 35, "seconds": 60, "written": 25000000, "items": 900, "pages": true}
            """,
            """
            {"at": "\(time(14))", "conditions": {"load": 0.04, "cpu-pressure": 0, "io-pressure": 0.02}}
            """,
        ]
    }

    static let neverIdle = ShippedTrace(
        name: "never-idle",
        summary: """
            A machine that is never idle, for a week: somebody is always there and its processors are always busy. Every job \
            comes to its end all the same, five seconds in a minute.
            """,
        lines: """
            {"at": "00:00", "conditions": {"presence": "active", \(idle)}}
            {"at": "00:00", "conditions": {"load": 0.7, "cpu-pressure": 0.25}}
            {"at": "08:00", "job": "org.example.mail", "cpu": 60, "written": 30000000, "items": 2000, "pages": true}
            {"at": "08:10", "job": "org.example.notes", "cpu": 90, "items": 2500}
            {"at": "09:00", "job": "optimize", "cpu": 45, "written": 300000000}
            {"at": "10:00", "job": "org.example.calendar", "urgency": "expiry", "deadline": "120:00", "cpu": 30, "items": 400}
            {"at": "34:00", "job": "org.example.feeds", "cpu": 20, "items": 200, "fails": 2}
            {"at": "58:00", "job": "org.example.mail", "cpu": 25, "written": 5000000, "items": 300, "pages": true}
            {"at": "168:00", "end": true}
            """)
}
