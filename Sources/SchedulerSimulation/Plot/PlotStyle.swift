// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// How a ``TimelinePlot`` looks. Colours are told apart by people who do not see red and green, since heights differ too.
enum PlotStyle {
    /// A gate's colour: people, power, load, and the rest.
    static func kind(of gate: Gate) -> StaticString {
        switch gate.cause {
        case .user: "person"
        case .power: "power"
        case .load: "busy"
        case .sleep: "asleep"
        case .request, .other: "other"
        }
    }

    /// A bar's height and colour.
    static func bar(of activity: Replay.Activity) -> (height: Double, kind: StaticString) {
        switch activity {
        case .waiting: (2, "waiting")
        case .paused: (4, "paused")
        case .relaxed: (10, "relaxed")
        case .running: (20, "running")
        case .wanted: (20, "wanted")
        case .quieting: (20, "quieting")
        }
    }

    /// What the marks of a job's row mean: each is an activity's or a gate's.
    static let legend: [(words: String, height: Double, kind: StaticString, activity: Replay.Activity?, gate: Gate?)] =
        [
            ("runs", 16, "running", .running, nil), ("runs slowly, past gates", 10, "relaxed", .relaxed, nil),
            ("a person wants it now", 16, "wanted", .wanted, nil),
            ("becomes quiet", 16, "quieting", .quieting, nil),
            ("quiet", 4, "paused", .paused, nil), ("waits", 2, "waiting", .waiting, nil),
            ("throttled", 16, "throttled", nil, .throttled), ("somebody is active", 16, "presence", nil, .userActive),
        ]

    /// Plain rules, and the same once more for dark ground: other programs than browsers know no variables.
    static let css = """

        text { font: 12px system-ui, "Segoe UI", Cantarell, "DejaVu Sans", sans-serif; fill: #3d4451 }
        .title { font-size: 20px; font-weight: 600; fill: #14181f }
        .heading { font-size: 13px; font-weight: 600; fill: #14181f }
        .name { text-anchor: end; fill: #1f2630 }
        .hour, .day { text-anchor: middle; font-size: 11px; fill: #6b7483 }
        .day { font-weight: 600; fill: #14181f }
        .ground { fill: #ffffff }
        .lane { fill: #f1f3f6 }
        .grid { stroke: #dfe3e9; stroke-width: 1; fill: none }
        .presence { fill: #7c6fd6; fill-opacity: 0.13 }
        .person { fill: #7c6fd6 }
        .power { fill: #d9822b }
        .busy { fill: #c8505a }
        .asleep { fill: #37435a }
        .other { fill: #8a93a3 }
        .waiting { fill: #9aa3b2 }
        .paused { fill: #6b7483 }
        .running { fill: #1f9d6b }
        .relaxed { fill: #e0a11b }
        .wanted { fill: #2f7fd8 }
        .quieting { fill: #d23f4f }
        .throttled { fill: url(#hatch) }
        .done { fill: none; stroke: #14704b; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
        .hatch { stroke: #b0637a; stroke-width: 1.6 }
        @media (prefers-color-scheme: dark) {
        text { fill: #b3bbc9 }
        .title, .heading, .day { fill: #f2f4f8 }
        .name { fill: #dde2ea }
        .hour { fill: #8d97a8 }
        .ground { fill: #15181e }
        .lane { fill: #1e232b }
        .grid { stroke: #2b313c }
        .presence { fill: #8f83ea; fill-opacity: 0.17 }
        .person { fill: #8f83ea }
        .power { fill: #e39a4c }
        .busy { fill: #dd6b74 }
        .asleep { fill: #7d8ca8 }
        .waiting { fill: #5d6675 }
        .paused { fill: #939dad }
        .running { fill: #34bd86 }
        .relaxed { fill: #efb83c }
        .wanted { fill: #5a9ff0 }
        .quieting { fill: #f0606f }
        .done { stroke: #6fe0b3 }
        .hatch { stroke: #d58aa0 }
        }

        """

    static let definitions: StaticString = """
        <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <path d="M0 0V6" class="hatch"/></pattern></defs>
        """
}
