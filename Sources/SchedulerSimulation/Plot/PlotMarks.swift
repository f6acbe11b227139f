// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A group of spans of one kind that are so close together that a plot draws them as one mark.
struct PlotMark<Kind: Hashable & Sendable & Codable> {
    var start: Double
    var end: Double
    var kind: Kind
    var gates: [Gate]
    /// The number of merged spans. `seconds` is their total length.
    var count = 1
    var seconds: Double
}

extension Sequence {
    /// Merges spans of the same kind that are less than `gap` seconds apart. The spans must be in
    /// chronological order.
    func marks<Kind>(gap: Double) -> [PlotMark<Kind>] where Element == Replay.Span<Kind> {
        var marks: [PlotMark<Kind>] = []
        var last: [Kind: Int] = [:]
        for span in self {
            if let place = last[span.kind], span.start - marks[place].end < gap {
                marks[place].end = Swift.max(marks[place].end, span.end)
                marks[place].count += 1
                marks[place].seconds += span.length
                if marks[place].gates != span.gates {
                    marks[place].gates = GateSet(marks[place].gates).union(GateSet(span.gates)).gates
                }
            } else {
                last[span.kind] = marks.count
                marks.append(
                    PlotMark(
                        start: span.start, end: span.end, kind: span.kind, gates: span.gates, seconds: span.length))
            }
        }
        return marks
    }
}

/// Formats durations as readable text.
public enum SpokenTime {
    /// Returns a text such as `0.5 s`, `42 s`, `5 min 30 s`, `3 h 05 min` or `2 d 4 h`.
    public static func words(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "–" }
        if seconds < 9.95 {
            let tenths = Int((seconds * 100).rounded())
            if tenths == 0 { return "0 s" }
            let rest = tenths % 100
            if rest == 0 { return "\(tenths / 100) s" }
            return rest % 10 == 0
                ? "\(tenths / 100).\(rest / 10) s" : "\(tenths / 100).\(rest < 10 ? "0" : "")\(rest) s"
        }
        let whole = Int(seconds.clamped(to: 0...1e12).rounded())
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s" }
        let minutes = whole / 60 % 60
        if whole < 86400 {
            return minutes == 0 ? "\(whole / 3600) h" : "\(whole / 3600) h \(minutes < 10 ? "0" : "")\(minutes) min"
        }
        let hours = whole / 3600 % 24
        return hours == 0 ? "\(whole / 86400) d" : "\(whole / 86400) d \(hours) h"
    }
}
