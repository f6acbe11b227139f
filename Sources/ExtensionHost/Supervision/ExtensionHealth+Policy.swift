// SPDX-License-Identifier: Apache-2.0

/// The quarantine thresholds and the back-off delays.
public struct HealthPolicy: Hashable, Sendable {
    /// The number of crashes that leads to a quarantine…
    public var crashes = 3
    /// …if they occur within this number of seconds.
    public var window = 300.0
    /// The back-off after the first failure, in seconds. It doubles with each further failure, like
    /// `Backoff` in `IdleScheduling` (which this module does not import).
    public var firstDelay = 30.0
    /// The longest back-off, in seconds.
    public var longestDelay = 5.0 * 3600

    /// Creates the default policy.
    public init() {}

    /// Returns the back-off after a number of consecutive failures, in seconds.
    public func delay(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return 0 }
        // 30 s doubled ten times exceeds five hours. The bound prevents an overflow.
        return min(longestDelay, firstDelay * Double(1 << min(failures - 1, 16)))
    }
}

/// The origin of a request to an extension.
public enum RequestOrigin: String, Sendable, Codable, CaseIterable {
    /// The user waits for the reply, or has named the extension. Overrides a back-off, but not a
    /// quarantine.
    case person
    /// The host's own background work, in a worker at idle priority.
    case background
}

extension ExtensionHealth {
    /// A reason to reject requests to an extension.
    public enum Refusal: Hashable, Sendable {
        /// The user has disabled the extension.
        case disabled
        /// The extension crashed too often.
        case quarantined(Quarantine)
        /// The extension failed, and its back-off has not ended.
        case backingOff(BackOff)
    }

    /// Returns the reason to reject a request now, or `nil` to admit it.
    public func refusal(_ origin: RequestOrigin, now: Double, policy: HealthPolicy = HealthPolicy()) -> Refusal? {
        if isDisabled { return .disabled }
        if let quarantine { return .quarantined(quarantine) }
        guard origin == .background, let backOff else { return nil }
        // No back-off is longer than `longestDelay`, so a later end means that the clock was set
        // back.
        guard backOff.until > now, backOff.until - now <= policy.longestDelay else { return nil }
        return .backingOff(backOff)
    }

    /// Records the current fingerprint. If it has changed, failures, quarantine, back-off and
    /// skip-listed items are cleared. The user's choice to disable the extension is kept.
    ///
    /// - Returns: `true` if anything was cleared.
    @discardableResult
    public mutating func meet(_ present: BundleFingerprint) -> Bool {
        guard fingerprint != present else { return false }
        let wasHeld = release()
        fingerprint = present
        return wasHeld
    }

    /// Records a failure.
    ///
    /// - Parameter failure: The failure. Its moment is the current time.
    /// - Returns: The quarantine, if it begins with this failure.
    @discardableResult
    public mutating func note(
        _ failure: Failure, _ present: BundleFingerprint, policy: HealthPolicy = HealthPolicy()
    ) -> Quarantine? {
        meet(present)
        failures.append(failure)
        while failures.count > max(HealthLimits.failures, policy.crashes) {
            // Failures that do not count towards a quarantine must not displace those that do.
            failures.remove(at: failures.firstIndex { !$0.kind.isCrash } ?? 0)
        }
        let count = min(backOff?.failures ?? 0, Int(Int32.max)) + 1
        backOff = BackOff(failures: count, until: failure.moment + policy.delay(afterFailures: count))
        guard quarantine == nil, failure.kind.isCrash else { return nil }
        // Compares in both directions, because the clock may have been set back.
        let crashes = failures.count { $0.kind.isCrash && abs($0.moment - failure.moment) <= policy.window }
        guard crashes >= policy.crashes else { return nil }
        let reason =
            "lost \(crashes) workers within \(Int(policy.window / 60)) minutes; the last time it \(failure.summary)"
        quarantine = Quarantine(
            since: failure.moment, reason: HealthLimits.cut(reason), evidence: failure, fingerprint: present)
        return quarantine
    }

    /// Records a success. Earlier crashes stay recorded: an extension that crashes every other time
    /// is still broken.
    ///
    /// - Returns: `true` if the record has changed.
    @discardableResult
    public mutating func noteSuccess() -> Bool {
        guard backOff != nil else { return false }
        backOff = nil
        return true
    }

    /// Clears everything that counts against the extension, when the user releases it.
    ///
    /// - Returns: `true` if anything was cleared.
    @discardableResult
    public mutating func release() -> Bool {
        let wasHeld = quarantine != nil || backOff != nil || !failures.isEmpty || !itemsSetAside.isEmpty
        (quarantine, backOff, failures, itemsSetAside) = (nil, nil, [], [])
        return wasHeld
    }

    /// Clears the failures and the skip-listed items up to a moment. The items are requested again.
    package mutating func forgetEvidence(until moment: Double) {
        failures.removeAll { $0.moment <= moment }
        itemsSetAside.removeAll { $0.since <= moment }
    }

    /// Skip-lists items. If there are too many, the oldest are dropped and requested again.
    public mutating func setAside(_ items: [ItemSetAside], _ present: BundleFingerprint) {
        meet(present)
        let names = Set(items.map(\.identifier))
        itemsSetAside.removeAll { names.contains($0.identifier) }
        itemsSetAside += items
        itemsSetAside.removeFirst(max(0, itemsSetAside.count - HealthLimits.items))
        var bytes = itemsSetAside.reduce(0) { $0 + $1.identifier.utf8.count }
        while bytes > HealthLimits.itemBytes {
            bytes -= itemsSetAside.removeFirst().identifier.utf8.count
        }
    }

    /// Removes items that succeeded from the skip list; `nil` for all.
    ///
    /// - Returns: `true` if any item was skip-listed.
    @discardableResult
    public mutating func giveBack(_ items: Set<String>?) -> Bool {
        let count = itemsSetAside.count
        if let items { itemsSetAside.removeAll { items.contains($0.identifier) } } else { itemsSetAside = [] }
        return itemsSetAside.count < count
    }
}
