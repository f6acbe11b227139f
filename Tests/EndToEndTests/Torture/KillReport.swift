// SPDX-License-Identifier: Apache-2.0
import TortureSupport

/// The results of a torture test, as the test prints them.
struct KillReport: CustomStringConvertible {
    private var kills: [KillSite: Int] = [:]
    private var openings: [Duration] = []
    private var items = 0

    /// Counts a round.
    mutating func add(_ site: KillSite, opening: Duration, items: Int) {
        kills[site, default: 0] += 1
        openings.append(opening)
        self.items += items
    }

    var description: String {
        var lines = ["Kills by step:"]
        for phase in DonorPhase.allCases {
            let sites = KillSite.all.filter { $0.phase == phase && kills[$0] != nil }
            lines.append("  \(phase): " + sites.map { "\($0.point) \(kills[$0] ?? 0)" }.joined(separator: ", "))
        }
        let sorted = openings.sorted()
        if let middle = sorted.dropFirst(sorted.count / 2).first, let longest = sorted.last {
            lines.append(
                """
                \(openings.count) rounds, all items right each time (\(items) comparisons). \
                Opening after a kill: half within \(Self.milliseconds(middle)), all within \(Self.milliseconds(longest)).
                """)
        }
        return lines.joined(separator: "\n")
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\(duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000) ms"
    }
}
