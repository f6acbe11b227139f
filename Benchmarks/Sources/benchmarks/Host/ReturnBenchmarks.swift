// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ServiceMessages
import Synchronization
import TestSupport

/// Measures the time from the user's return until background workers pause.
struct ReturnBenchmarks {
    let folder: String

    private static let returns = 200
    /// The time that a worker works between two returns.
    private static let between = Duration.milliseconds(30)

    func run() async throws -> [Measurement] {
        let extensions = try MeasuredExtensions(folder: folder + "/returns")
        let names = ["cooperative", "ignoring"]
        for name in names {
            try extensions.compile(
                "com.example.\(name)", source: "returns.c", options: name == "cooperative" ? ["-DCOOPERATIVE"] : [])
        }
        var measurements: [Measurement] = []
        for isBusy in [false, true] {
            let hogs = isBusy ? try (0..<sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in try Hog() } : []
            for name in names {
                let machine = isBusy ? "busy" : "idle"
                let (told, quiet) = try await measure("com.example.\(name)", extensions)
                func row(_ what: String, _ value: Double, _ row: Row? = nil) -> Measurement {
                    Measurement(name: "\(what), \(name), \(machine) machine", value: value, unit: "ms", row: row)
                }
                measurements += [
                    row("pause to notice, p50", told.p50), row("pause to notice, p99", told.p99, .told),
                    row("pause to the last use of a processor, p50", quiet.p50),
                    row("pause to the last use of a processor, p99", quiet.p99, .quiet),
                ]
            }
            for hog in hogs { hog.stop() }
        }
        return measurements
    }

    private func measure(
        _ bundle: String, _ extensions: MeasuredExtensions
    ) async throws -> (told: Percentiles, quiet: Percentiles) {
        let (messages, said) = AsyncStream.makeStream(of: String.self)
        let host = extensions.host { event in
            if case .log(_, _, let message) = event { said.yield(message) }
        }
        let reindex = Task { try await host.reindexAll(bundle, origin: .background) }
        var heard = messages.makeAsyncIterator()
        guard await heard.next() == "working", let worker = host.processIdentifiers.first else {
            throw BenchmarkError("\(bundle) does not work.")
        }
        var (told, quiet): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.returns {
            try await Task.sleep(for: Self.between)
            let begin = Self.now()
            let watch = ProcessorWatch(worker)
            let outcome = await host.pauseBackground(bundle, ThrottleNotice(reason: .userActive))
            guard outcome == .frozen || outcome == .heeded else { throw BenchmarkError("\(bundle): \(outcome)") }
            // Long enough to confirm that no work follows.
            try await Task.sleep(for: .milliseconds(50))
            quiet.append(max(0, watch.stop() - begin) / 1e6)
            // The worker may report the notice only after it resumes. The message contains the
            // notice's timestamp.
            await host.resumeBackground(bundle)
            guard let message = await heard.next(), let moment = Double(message.dropFirst("told ".count)) else {
                throw BenchmarkError("\(bundle) was not notified.")
            }
            told.append((moment - begin) / 1e6)
        }
        await host.endBackground(bundle)
        _ = await reindex.result
        await host.shutdown()
        return (Percentiles(told), Percentiles(quiet))
    }

    /// Returns the CLOCK_MONOTONIC time in nanoseconds.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// Samples the CPU time of a process every millisecond, on its own thread.
private final class ProcessorWatch: Sendable {
    private let state = Mutex((isOver: false, last: 0.0))
    private let ended = DispatchSemaphore(value: 0)

    init(_ process: pid_t) {
        Thread.detachNewThread { [self] in
            var clock = clockid_t()
            clock_getcpuclockid(process, &clock)
            var used = -1.0
            while !state.withLock({ $0.isOver }) {
                var time = timespec()
                clock_gettime(clock, &time)
                let now = Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
                if now != used { state.withLock { $0.last = ReturnBenchmarks.now() } }
                used = now
                usleep(1000)
            }
            ended.signal()
        }
    }

    /// Returns the time of the first sample after which the CPU time no longer changed.
    func stop() -> Double {
        state.withLock { $0.isOver = true }
        ended.wait()
        return state.withLock { $0.last }
    }
}
