// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import ServiceMessages

extension SearchlightEngine {
    /// Has what is asked of a bundle in the background be quiet; see `ExtensionHost.pauseBackground`. Returns once it is, half
    /// a second later at most. ``resumeBackground(_:)`` or ``endBackground(_:)`` must follow.
    @discardableResult
    package func pauseBackground(_ bundle: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        // What it has donated is quiet too: to be found takes a processor longer than to be donated.
        index.hold(bundle)
        return await host.pauseBackground(bundle, notice)
    }

    /// Whether something is being indexed at this moment: what was under way when its extension was paused still is for a while.
    package var isIndexing: Bool { index.isApplying }

    /// Lets it go on. Harmless if it was not paused.
    package func resumeBackground(_ bundle: String) async {
        index.hold(nil)
        await host.resumeBackground(bundle)
    }

    /// Ends what is asked of a bundle in the background; unless it was acknowledged it stays owed, and what it has donated while
    /// it was paused is found once it is resumed or the next begins. Returns before all of that has happened.
    package func endBackground(_ bundle: String) async {
        await host.endBackground(bundle)
        // Nothing may be asked of it just now: it waits until the machine is left alone, between two pages or for what is held.
        outlook.withLock { $0.inBackground[bundle] }?.cancel()
    }

    /// What the workers of a bundle that are asked by an origin have cost since the engine was opened, those that have ended
    /// too; `nil` if there was none. Never less than before.
    package func usage(of bundle: String, for origin: RequestOrigin) -> Usage? {
        host.usage(of: bundle, for: origin).map { Usage(cpu: $0.cpu, written: $0.written, wakeUps: $0.wakeUps) }
    }

    /// The processor time that writing the index took since the engine was opened, in seconds. Never less than before.
    package var writingTime: Double { index.writingTime }

    /// The processes of all workers, until they were reaped.
    package var workerProcesses: [Int32] { host.processIdentifiers }
}
