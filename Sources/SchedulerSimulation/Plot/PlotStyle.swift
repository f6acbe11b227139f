// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The visual style of a ``TimelinePlot``. Bars also differ in height, so that users with red-green
/// colour blindness can distinguish them.
enum PlotStyle {
    /// Returns the CSS class for a gate's colour.
    static func kind(of gate: Gate) -> StaticString {
        switch gate.cause {
        case .user: "person"
        case .power: "power"
        case .load: "busy"
        case .sleep: "asleep"
        case .request, .other: "other"
        }
    }

    /// Returns the height of a bar and the CSS class for its colour.
    static func bar(of activity: Replay.Activity) -> (height: Double, kind: StaticString) {
        switch activity {
        case .waiting: (2, "waiting")
        case .paused: (4, "paused")
        case .relaxed: (10, "relaxed")
        case .fresh: (14, "fresh")
        case .running: (20, "running")
        case .wanted: (20, "wanted")
        case .quieting: (20, "quieting")
        }
    }

    /// The legend for the marks in a job's row. Each entry represents an activity or a gate.
    static let legend: [(words: String, height: Double, kind: StaticString, activity: Replay.Activity?, gate: Gate?)] =
        [
            ("runs", 16, "running", .running, nil), ("runs at low rate, bypassing gates", 10, "relaxed", .relaxed, nil),
            ("runs at once: changed files", 14, "fresh", .fresh, nil),
            ("requested by the user", 16, "wanted", .wanted, nil),
            ("is pausing", 16, "quieting", .quieting, nil),
            ("quiet", 4, "paused", .paused, nil), ("waits", 2, "waiting", .waiting, nil),
            ("throttled", 16, "throttled", nil, .throttled), ("user is active", 16, "presence", nil, .userActive),
        ]

    /// The style sheet. It repeats the rules for dark backgrounds, because SVG viewers other than
    /// browsers do not support CSS variables.
    static let css = "\n" + String(decoding: PackageResources.plot_css, as: UTF8.self)

    static let definitions: StaticString = """
        <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <path d="M0 0V6" class="hatch"/></pattern></defs>
        """
}
