// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import TestSupport

/// The intervals in which all gates of a trace are open, and its other conditions.
struct RandomTrace {
    var trace: [(moment: Double, conditions: Conditions)] = []
    /// The intervals without closed gates.
    private(set) var openings: [Range<Double>] = []
    /// The longest time between two openings.
    private(set) var longestGap = 0.0

    /// Creates conditions of random kinds and durations that leave all gates open for a tenth of
    /// the time.
    init(_ random: inout SplitMix64, until end: Double) {
        var now = 0.0
        while now < end {
            let opening = 5 + Double(random.below(600))
            var closed = opening * 9
            longestGap = max(longestGap, closed)
            let closing = now
            while closed > 0 {
                let piece = min(closed, 1 + Double(random.below(1800)))
                trace.append((now, random.pick(Conditions.closing).conditions))
                now += piece
                closed -= piece
            }
            // Half of the openings start because the user left.
            var open = Conditions.idle
            let left = random.below(2) == 0 ? now - 60 : -1e6
            if left > closing { open.presence = .away(since: left) }
            trace.append((now, open))
            openings.append(now..<(now + opening))
            now += opening
        }
    }

    /// Returns the time at which all gates have been open for `seconds` in total.
    func moment(afterOpen seconds: Double) -> Double? {
        var left = seconds
        for opening in openings {
            let length = opening.upperBound - opening.lowerBound
            if left <= length { return opening.lowerBound + left }
            left -= length
        }
        return nil
    }
}
