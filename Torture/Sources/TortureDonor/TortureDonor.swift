// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Glibc
import SearchIndex
import TortureSupport

/// Donates numbered batches to a store, prints `acknowledged SCOPE NUMBER` for each durable batch,
/// and kills itself with SIGKILL at a named point in a commit. Part of the tests:
///
///     TortureDonor STORE SEED BATCHES [PHASE POINT OCCURRENCE]
///     TortureDonor disk-full FOLDER SEED EXTENSIONS IDENTIFIER
///     TortureDonor supervision FOLDER EXTENSIONS WORKER IDENTIFIER ROUNDS
///     TortureDonor jobs FOLDER EXTENSIONS WORKER SEED NOW
///     TortureDonor frozen FOLDER EXTENSIONS WORKER IDENTIFIER
///
/// The last form prints the process ID of a worker when the worker is frozen.
@main
enum TortureDonor {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 6, arguments[1] == "disk-full" {
            var trial = DiskFullTrial(
                folder: arguments[2], seed: UInt64(arguments[3]) ?? 1, extensions: (arguments[4], arguments[5]))
            do { return try await trial.run() } catch { fail("\(error)") }
        }
        if arguments.count == 7, arguments[1] == "supervision", let rounds = Int(arguments[6]) {
            let trial = SupervisionTrial(
                folder: arguments[2], extensions: arguments[3], worker: arguments[4], bundle: arguments[5],
                rounds: rounds)
            do { return try await trial.run() } catch { fail("\(error)") }
        }
        if arguments.count == 7, arguments[1] == "jobs", let seed = UInt64(arguments[5]), let now = Double(arguments[6])
        {
            let trial = JobsTrial(
                folder: arguments[2], extensions: arguments[3], worker: arguments[4], seed: seed, now: now)
            do { return try await trial.run() } catch { fail("\(error)") }
        }
        if arguments.count == 6, arguments[1] == "frozen" {
            let trial = FrozenTrial(
                folder: arguments[2], extensions: arguments[3], worker: arguments[4], bundle: arguments[5])
            do { return try await trial.run() } catch { fail("\(error)") }
        }
        guard arguments.count == 4 || arguments.count == 7, let seed = UInt64(arguments[2]),
            let count = Int(arguments[3])
        else { fail("TortureDonor STORE SEED BATCHES [PHASE POINT OCCURRENCE]") }
        var target: KillSite?
        var occurrence = 0
        if arguments.count == 7 {
            guard let phase = DonorPhase(rawValue: arguments[4]), let point = CommitPoint(rawValue: arguments[5]),
                let number = Int(arguments[6])
            else { fail("unknown point") }
            (target, occurrence) = (KillSite(phase, point), number)
        }
        let watch = PointWatch(target: target, occurrence: occurrence)
        var seams = StoreHooks()
        seams.logFiles = WatchedFiles(watch: watch)
        // Small segments, so that segments are created and removed often.
        seams.log = LogConfiguration(segmentBytes: 8192, markBytes: 1024)
        seams.prepareDatabase = { watch.watch($0) }
        let index = try SearchIndex(
            directory: arguments[1], access: .readWrite, now: { TortureBatch.now }, seams: seams)
        watch.enter(.donating)
        // Concurrent, so that batches share groups and transactions.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for scope in TortureBatch.scopes.indices {
                group.addTask { try await donate(count, to: scope, of: index, seed: seed) }
            }
            try await group.waitForAll()
        }
        watch.enter(.closing)
        try await index.close()
    }

    private static func donate(_ count: Int, to scope: Int, of index: SearchIndex, seed: UInt64) async throws {
        let state = try await index.clientState(of: TortureBatch.scopes[scope])
        let last = state.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
        for number in (last + 1)...(last + count) {
            let batch = TortureBatch(number, scope: scope, seed: seed)
            try await index.commit(batch.donation().with(clientState: batch.clientState))
            let line = Array("acknowledged \(scope) \(number)\n".utf8)
            // A single write, so that a kill leaves no partial line.
            guard write(STDOUT_FILENO, line, line.count) == line.count else { fail("no process reads") }
            if number % 5 == scope { try await index.settle() }
        }
    }

    private static func fail(_ message: String) -> Never {
        let line = Array((message + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(64)
    }
}
