// SPDX-License-Identifier: Apache-2.0
import FileReading

/// The progress reports of a reindex. The host stops a worker that is silent for ten seconds, and a
/// tree without files may take longer, so ``walking(_:)`` also reports without a result. Not
/// thread-safe: use from one thread at a time.
package final class ProgressReport {
    /// The shortest time between two reports of ``walking(_:)``, or after any other report.
    package static let interval: Duration = .seconds(3)

    private let print: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private var lastSign: ContinuousClock.Instant

    package init(print: @escaping (String) -> Void, now: @escaping () -> ContinuousClock.Instant) {
        self.print = print
        self.now = now
        lastSign = now()
    }

    package func say(_ line: String) {
        print(line)
        madeProgress()
    }

    /// Records that the host received a batch and so saw progress.
    package func madeProgress() { lastSign = now() }

    /// Reports the directory of the walk, unless the last report is younger than ``interval``.
    package func walking(_ directory: String) {
        if now() - lastSign >= Self.interval { say("walking \(directory.onOneLine)…") }
    }

    /// Reports the file that is being read, unless the last report is younger than ``interval``.
    package func reading(_ path: String) {
        if now() - lastSign >= Self.interval { say("reading \(path.onOneLine)…") }
    }
}
