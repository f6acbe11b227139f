// SPDX-License-Identifier: Apache-2.0
import JournalNotes

/// What is said during a reindex, and a sign of life when there is nothing to say: a host stops a worker that is silent
/// for ten seconds, and a tree without notes may take longer. One thread at a time.
final class ProgressReport {
    /// The shortest time between a sign of life and whatever was said before it.
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

    /// The host saw progress by itself.
    func madeProgress() { lastSign = now() }

    /// Says where the walk is, unless something was said lately.
    func walking(_ directory: String) {
        if now() - lastSign >= Self.interval { say("walking \(directory.onOneLine)…") }
    }
}
