// SPDX-License-Identifier: Apache-2.0
import FileReading

/// The progress reports of a reindex. The host stops a worker that is silent for ten seconds, and
/// walking a tree without files may take longer, so ``walking(_:)`` also reports when no file was
/// found. Not thread-safe: use from one thread at a time.
package final class ProgressReport {
    /// The minimum time between two reports from ``walking(_:)``, or after any other report.
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

    /// Records that the host received a batch, which shows progress.
    package func madeProgress() { lastSign = now() }

    /// Reports the current directory, unless the last report was less than ``interval`` ago.
    package func walking(_ directory: String) {
        if now() - lastSign >= Self.interval { say("walking \(directory.onOneLine)…") }
    }

    /// Reports the file that is being read, unless the last report was less than ``interval`` ago.
    package func reading(_ path: String) {
        if now() - lastSign >= Self.interval { say("reading \(path.onOneLine)…") }
    }
}
