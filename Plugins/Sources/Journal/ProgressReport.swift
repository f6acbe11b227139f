// SPDX-License-Identifier: Apache-2.0
import JournalNotes

/// The progress reports of a reindex. The host stops a worker that is silent for ten seconds, and a
/// tree without notes may take longer, so ``walking(_:)`` also reports without a result. Not
/// thread-safe: use from one thread at a time.
final class ProgressReport {
    /// The shortest time between two reports of ``walking(_:)``, or after any other report.
    static let interval: Duration = .seconds(3)

    private let print: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private var lastSign: ContinuousClock.Instant

    init(print: @escaping (String) -> Void, now: @escaping () -> ContinuousClock.Instant) {
        self.print = print
        self.now = now
        lastSign = now()
    }

    func say(_ line: String) {
        print(line)
        madeProgress()
    }

    /// Records that the host received a batch and so saw progress.
    func madeProgress() { lastSign = now() }

    /// Reports the directory of the walk, unless the last report is younger than ``interval``.
    func walking(_ directory: String) {
        if now() - lastSign >= Self.interval { say("walking \(directory.onOneLine)…") }
    }
}
