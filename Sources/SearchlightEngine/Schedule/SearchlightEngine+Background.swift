// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import ServiceMessages

extension SearchlightEngine {
    /// Pauses a bundle's background requests; see `ExtensionHost.pauseBackground`. Returns once
    /// they are paused, after at most half a second. ``resumeBackground(_:)`` or
    /// ``endBackground(_:)`` must follow.
    @discardableResult
    package func pauseBackground(_ bundle: String, _ notice: ThrottleNotice) async -> PauseOutcome {
        // Indexing of the bundle's donations is paused too, since it takes more processor time than
        // the donations themselves.
        index.hold(bundle)
        return await host.pauseBackground(bundle, notice)
    }

    /// `true` while donations are being indexed. After an extension is paused, a batch in progress
    /// takes a moment to finish.
    package var isIndexing: Bool { index.isApplying }

    /// Resumes a bundle's background requests. Has no effect if they are not paused.
    package func resumeBackground(_ bundle: String) async {
        index.hold(nil)
        await host.resumeBackground(bundle)
    }

    /// Ends a bundle's background requests. Unacknowledged work stays pending. Donations made
    /// during a pause are indexed after the next resume or request. Returns before the requests
    /// have ended.
    package func endBackground(_ bundle: String) async {
        await host.endBackground(bundle)
        // The task may be waiting for idle conditions, for the next page, or for deferred
        // donations, so it is cancelled too.
        outlook.withLock { $0.inBackground[bundle] }?.cancel()
    }

    /// Returns the total usage of a bundle's workers for one request origin since the engine was
    /// opened, including exited workers; `nil` if there was none. It never decreases.
    package func usage(of bundle: String, for origin: RequestOrigin) -> Usage? {
        host.usage(of: bundle, for: origin).map { Usage(cpu: $0.cpu, written: $0.written, wakeUps: $0.wakeUps) }
    }

    /// The processor time spent writing the index since the engine was opened, in seconds. It never
    /// decreases.
    package var writingTime: Double { index.writingTime }

    /// The process identifiers of all workers that are not reaped yet.
    package var workerProcesses: [Int32] { host.processIdentifiers }
}
