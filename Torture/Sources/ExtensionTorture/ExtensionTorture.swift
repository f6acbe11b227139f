// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import TestSupport
import TortureSupport

/// Sends random requests to good and broken extensions, randomly cancels and kills, and checks for
/// lost items and leaked resources. Part of the tests:
///
///     ExtensionTorture engine|PID FOLDER PRODUCTS ROUNDS SEED
///
/// It uses the service with this process ID and the store in FOLDER, or its own engine.
///
/// The bundles are in FOLDER/extensions. Bundles named `good` keep a ledger; the others are broken.
/// Exits with status 1 and prints the reason if a check fails.
@main
enum ExtensionTorture {
    /// The number of rounds after which the engine is closed and reopened.
    private static let segment = 50
    private static let roundsAtOnce = 5

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let rounds = Int(arguments[4]), let seed = UInt64(arguments[5]) else {
            fail("ExtensionTorture engine|PID FOLDER PRODUCTS ROUNDS SEED")
        }
        let place = TorturePlace(folder: arguments[2], products: arguments[3], service: Int32(arguments[1]))
        var random = SplitMix64(seed: seed)
        let figures = TortureFigures()
        let ledgers = place.good.map { Ledger(bundle: $0) }
        var before: ProcessFacts?
        for first in stride(from: 0, to: rounds, by: segment) {
            let range = first..<min(rounds, first + segment)
            try await torture(range, place, ledgers, figures, &random)
            before = await look(place, before, figures)
        }
        let left = place.leftovers
        if !left.isEmpty { figures.complain("files are left: \(left)") }
        print(figures.summary(rounds: rounds, facts: ProcessFacts(place.host)))
        exit(figures.hasFailed ? 1 : 0)
    }

    /// Runs some rounds with a store that is opened before them and closed afterwards.
    private static func torture(
        _ rounds: Range<Int>, _ place: TorturePlace, _ ledgers: [Ledger], _ figures: TortureFigures,
        _ random: inout SplitMix64
    ) async throws {
        let store = try await place.open(figures)
        // Concurrent, because most of a round is spent waiting for extensions that hang.
        for first in stride(from: rounds.lowerBound, to: rounds.upperBound, by: roundsAtOnce) {
            await withTaskGroup(of: Void.self) { group in
                for _ in first..<min(rounds.upperBound, first + roundsAtOnce) {
                    let seed = random.next()
                    let round = TortureRound(place: place, store: store, ledgers: ledgers, figures: figures)
                    group.addTask {
                        var own = SplitMix64(seed: seed)
                        await round.run(&own)
                    }
                }
            }
        }
        for ledger in ledgers { try await ledger.check(store, figures) }
        await store.close()
    }

    /// Compares the host's resources after a segment with those after the first segment.
    private static func look(
        _ place: TorturePlace, _ before: ProcessFacts?, _ figures: TortureFigures
    ) async -> ProcessFacts {
        var now = ProcessFacts(place.host)
        // Pool threads, and workers that are terminating, disappear with a delay.
        for _ in 0..<600 {
            if now.isNoMore(than: before, workersMayLive: place.service != nil) { break }
            try? await Task.sleep(for: .milliseconds(50))
            now = ProcessFacts(place.host)
        }
        if !now.isNoMore(than: before, workersMayLive: place.service != nil) {
            figures.complain("left behind: \(now); after the first rounds: \(before.map { "\($0)" } ?? "nothing yet")")
        }
        return before ?? now
    }

    private static func fail(_ message: String) -> Never {
        print(message)
        exit(64)
    }
}
