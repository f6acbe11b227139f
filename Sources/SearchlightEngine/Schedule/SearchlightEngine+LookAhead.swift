// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// The maximum delay of the look-ahead after a donation, in seconds. Donated items expire later
    /// than that, or else the app is responsible for renewing them.
    static let lookAfterDonation = 86400.0
    /// The same delay in a store with an embedding model, since donated items need embeddings.
    static let lookForEmbedding = 60.0
    private static let shortestPause = 60.0
    private static let pauseAfterFailure = 3600.0

    /// The time of the next ``lookAhead()``, in seconds since 2001-01-01 UTC; `nil` if none is
    /// needed.
    package var nextLook: Double? { outlook.withLock { $0.next } }

    /// Determines upcoming work: requests items that are about to expire, and computes the due
    /// maintenance. Takes a few milliseconds; ``scheduledJobs()`` and ``nextLook`` provide the
    /// results.
    ///
    /// Items are requested by identifier, ``SchedulingPolicy/expiryNotice`` before they expire,
    /// once for each expiry date. In Apple's system, items expire after a month unless they are
    /// donated again.
    ///
    /// - At most ``JobQueue/maximumItems`` items in a bundle are pending individually. Further
    ///   items are requested after an acknowledgement. The request does not become a reindex of
    ///   everything, which would delete items that the extension does not donate.
    /// - A reindex of everything is requested only if further items have already expired, for
    ///   example after weeks without power. They would be deleted before they are requested.
    /// - Items whose lifetime is shorter than twice the notice are left to their app. Otherwise an
    ///   app that always renews them in time would receive requests indefinitely.
    /// - Encrypted items are checked while the store is unlocked, and again after each unlocking.
    ///   They are requested by a job of their own (`encrypted:BUNDLE`), which names none of them.
    /// - A bundle with neither an extension nor a registered app receives no requests.
    ///
    /// - Throws: ``EngineError``; ``nextLook`` is then the time of the next attempt.
    package func lookAhead() async throws(EngineError) {
        guard configuration.access == .readWrite else { return }
        let now = configuration.now()
        // Cleared first: a donation during the call sets the next look-ahead again.
        outlook.withLock { $0.next = nil }
        defer { jobsFollower.tell() }
        do throws(EngineError) {
            let first = try await onIndex { (index) throws(SearchIndexError) in try await index.firstExpiries() }
            let encrypted: Double
            do throws(EngineError) { encrypted = try await lookAtEncryptedItems(now) } catch {
                // The other work does not depend on it.
                encrypted = now + Self.pauseAfterFailure
            }
            let expiry = min(try await askBeforeExpiry(first, now), encrypted)
            let wear = try await onIndex { (index) throws(SearchIndexError) in try await index.wear() }
            let model = semanticModel.installed?.identity
            let needsEmbedding = try await onIndex { (index) throws(SearchIndexError) in
                try await index.needsEmbedding(model: model)
            }
            let next = min(expiry, note(wear, earliest: first.values.min(), needsEmbedding: needsEmbedding, now))
            guard next < .infinity else { return }
            outlook.withLock { _ = $0.look(at: max(next, now + Self.shortestPause)) }
        } catch {
            outlook.withLock { _ = $0.look(at: now + Self.pauseAfterFailure) }
            throw error
        }
    }

    func lookSoon() {
        guard configuration.access == .readWrite else { return }
        let now = configuration.now()
        if outlook.withLock({ $0.look(at: now) }) { jobsFollower.tell() }
    }

    // MARK: Items about to expire

    /// Requests the items in all bundles that are about to expire.
    ///
    /// - Parameter first: The first expiry date of each bundle.
    /// - Returns: The time of the next request.
    func askBeforeExpiry(_ first: [String: Double], _ now: Double) async throws(EngineError) -> Double {
        var next = Double.infinity
        for (bundle, moment) in first.sorted(by: { $0.key < $1.key }) where isAskable(bundle) {
            guard moment - configuration.policy.expiryNotice <= now else {
                next = min(next, moment - configuration.policy.expiryNotice)
                continue
            }
            next = min(next, try await askBeforeExpiry(bundle, now))
        }
        return next
    }

    private func askBeforeExpiry(_ bundle: String, _ now: Double) async throws(EngineError) -> Double {
        let notice = configuration.policy.expiryNotice
        let room = jobStore.room(for: bundle)
        // The mark is limited to now plus the notice, so that a clock that was set back cannot hide
        // items for longer.
        let mark = scheduleStore.state.marks[bundle].map { min($0, ExpiryMark(expires: now + notice)) }
        let found = try await onIndex { (index) throws(SearchIndexError) in
            try await index.expiringItems(
                of: bundle, after: mark, through: now + notice, lifetime: 2 * notice, limit: max(room, 1))
        }
        let owesEverything = jobStore[bundle]?.work == .reindexAll
        let isCutOff = found.next.map { $0 <= now + notice } == true
        var reached = found.mark
        if !found.identifiers.isEmpty, !owesEverything {
            var work = Job.Work.reindexItems(found.identifiers)
            let isLate = room == 0 ? found.earliest.map { $0 <= now } : found.next.map { isCutOff && $0 <= now }
            if isLate == true {
                work = .reindexAll
                reached = ExpiryMark(expires: now)
            } else if room == 0 {
                outlook.withLock { _ = $0.waiting.insert(bundle) }
                return .infinity
            }
            // Recorded before the mark: if the process crashes in between, the request is repeated
            // instead of lost.
            let job = Job(bundle: bundle, work: work, requested: now, cause: .expiry, deadline: found.earliest)
            try jobStore.update { $0.add(job) }
        } else if owesEverything {
            // The reindex renews all items. The remaining ones are checked afterwards.
            outlook.withLock { _ = $0.waiting.insert(bundle) }
            return .infinity
        }
        if reached != mark { try note(reached, of: bundle) }
        if isCutOff {
            outlook.withLock { _ = $0.waiting.insert(bundle) }
            return .infinity
        }
        return found.next.map { $0 - notice } ?? .infinity
    }

    private func note(_ mark: ExpiryMark, of bundle: String) throws(EngineError) {
        guard mark.expires.isFinite, JobDocument.canBeKept(donor: bundle) else { return }
        try scheduleStore.update { state in
            guard state.marks[bundle] != nil || state.marks.count < ScheduleState.maximumBundles else { return }
            state.marks[bundle] = mark
        }
    }

    /// Requests further items from a bundle after an acknowledgement.
    func noteAcknowledged(_ bundle: String) {
        if outlook.withLock({ $0.waiting.remove(bundle) != nil }) { lookSoon() }
    }
}
