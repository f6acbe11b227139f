// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// How soon is looked after a donation, in seconds: what was donated expires later than that, or is left to its app.
    static let lookAfterDonation = 86400.0
    private static let shortestPause = 60.0
    private static let pauseAfterFailure = 3600.0

    /// When ``lookAhead()`` is to be called next, in seconds since 2001-01-01 UTC; `nil` if nothing is to come.
    package var nextLook: Double? { outlook.withLock { $0.next } }

    /// Looks for work to come: asks for items that are about to expire, and finds out what maintenance is due. A few
    /// milliseconds; afterwards ``scheduledJobs()`` and ``nextLook`` say what there is.
    ///
    /// Items are asked for again by identifier, ``SchedulingPolicy/expiryNotice`` before they expire, each once for each
    /// date of expiry. Apple's expire after a month unless they are donated again. Only as many as a bundle may owe one by one
    /// (``JobQueue/maximumItems``); the rest is asked for once these are acknowledged. Many do not become everything, which
    /// would delete what the extension does not donate; unless they have expired already, as when the machine was off for
    /// weeks, and would be deleted before it is their turn. Items that were given less than two notices to live are left to
    /// their app, or one that always renews them in time would be asked without end. A bundle without an extension and a
    /// registered app is not asked.
    ///
    /// - Throws: ``EngineError``; ``nextLook`` says when to try again.
    package func lookAhead() async throws(EngineError) {
        guard configuration.access == .readWrite else { return }
        let now = configuration.now()
        // Whoever donates meanwhile has it looked for again.
        outlook.withLock { $0.next = nil }
        defer { jobsFollower.tell() }
        do throws(EngineError) {
            let first = try await onIndex { (index) throws(SearchIndexError) in try await index.firstExpiries() }
            let expiry = try await askBeforeExpiry(first, now)
            let wear = try await onIndex { (index) throws(SearchIndexError) in try await index.wear() }
            let next = min(expiry, note(wear, earliest: first.values.min(), now))
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

    // MARK: Before items expire

    /// - Parameter first: When the first item of each bundle expires.
    /// - Returns: When the next item is to be asked for.
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
        // A clock that was set back must not hide anything for longer than that.
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
            // Written down before the mark: who is killed in between asks twice rather than never.
            let job = Job(bundle: bundle, work: work, requested: now, cause: .expiry, deadline: found.earliest)
            try jobStore.update { $0.add(job) }
        } else if owesEverything {
            // That renews all; what is left is looked for afterwards.
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

    /// Has more of a bundle asked for, now that it owes less.
    func noteAcknowledged(_ bundle: String) {
        if outlook.withLock({ $0.waiting.remove(bundle) != nil }) { lookSoon() }
    }
}
