// SPDX-License-Identifier: Apache-2.0

/// When an extension is left alone, and for how long.
public struct HealthPolicy: Hashable, Sendable {
    /// So many crashes…
    public var crashes = 3
    /// …within so many seconds lead to a quarantine (the design's section 4.4).
    public var window = 300.0
    /// The wait after the first failure, in seconds; it doubles with each that follows. As for jobs that fail
    /// (`IdleScheduling`'s Backoff, which this module does not see).
    public var firstDelay = 30.0
    /// The longest wait, in seconds.
    public var longestDelay = 5.0 * 3600

    /// The policy of the design.
    public init() {}

    /// The wait after so many failures in a row, in seconds.
    public func delay(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return 0 }
        // 30 s doubled ten times is over five hours; a larger exponent would only overflow.
        return min(longestDelay, firstDelay * Double(1 << min(failures - 1, 16)))
    }
}

/// Who wants something of an extension.
public enum RequestOrigin: String, Sendable, Codable, CaseIterable {
    /// A person waits for it, or has asked for it by name: overrides a back-off, never a quarantine.
    case person
    /// The host itself, in its own time: by a worker that gives way to everybody else.
    case background
}

extension ExtensionHealth {
    /// Why an extension is not asked.
    public enum Refusal: Hashable, Sendable {
        /// A person does not want it to be used.
        case disabled
        /// It crashed too often.
        case quarantined(Quarantine)
        /// It failed, and has to be left alone for a while.
        case backingOff(BackOff)
    }

    /// Whether an extension may not be asked now; `nil` if it may.
    public func refusal(_ origin: RequestOrigin, now: Double, policy: HealthPolicy = HealthPolicy()) -> Refusal? {
        if isDisabled { return .disabled }
        if let quarantine { return .quarantined(quarantine) }
        guard origin == .background, let backOff else { return nil }
        // Nobody waits longer than that: the clock was set back.
        guard backOff.until > now, backOff.until - now <= policy.longestDelay else { return nil }
        return .backingOff(backOff)
    }

    /// Notes what is there of the extension and the host now. If that has changed, all that was held against the extension
    /// is forgotten; a person's wish is not.
    ///
    /// - Returns: Whether anything was forgotten.
    @discardableResult
    public mutating func meet(_ present: BundleFingerprint) -> Bool {
        guard fingerprint != present else { return false }
        let wasHeld = release()
        fingerprint = present
        return wasHeld
    }

    /// Notes a failure.
    ///
    /// - Parameter failure: Its moment is the present.
    /// - Returns: The quarantine, if it begins with this failure.
    @discardableResult
    public mutating func note(
        _ failure: Failure, _ present: BundleFingerprint, policy: HealthPolicy = HealthPolicy()
    ) -> Quarantine? {
        meet(present)
        failures.append(failure)
        while failures.count > max(HealthLimits.failures, policy.crashes) {
            // Many that do not count must not hide those that do.
            failures.remove(at: failures.firstIndex { !$0.kind.isCrash } ?? 0)
        }
        let count = min(backOff?.failures ?? 0, Int(Int32.max)) + 1
        backOff = BackOff(failures: count, until: failure.moment + policy.delay(afterFailures: count))
        guard quarantine == nil, failure.kind.isCrash else { return nil }
        // Either way: the clock may have been set back in between.
        let crashes = failures.count { $0.kind.isCrash && abs($0.moment - failure.moment) <= policy.window }
        guard crashes >= policy.crashes else { return nil }
        let reason =
            "lost \(crashes) workers within \(Int(policy.window / 60)) minutes; the last time it \(failure.summary)"
        quarantine = Quarantine(
            since: failure.moment, reason: HealthLimits.cut(reason), evidence: failure, fingerprint: present)
        return quarantine
    }

    /// Notes that a request went well. Crashes before are remembered: one that crashes every other time is no better.
    ///
    /// - Returns: Whether that changes anything.
    @discardableResult
    public mutating func noteSuccess() -> Bool {
        guard backOff != nil else { return false }
        backOff = nil
        return true
    }

    /// Forgets everything that is held against the extension; what a person asks for by releasing it.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    public mutating func release() -> Bool {
        let wasHeld = quarantine != nil || backOff != nil || !failures.isEmpty || !itemsSetAside.isEmpty
        (quarantine, backOff, failures, itemsSetAside) = (nil, nil, [], [])
        return wasHeld
    }

    /// Forgets the failures and the items set aside that are no younger than a moment; they are asked for again.
    package mutating func forgetEvidence(until moment: Double) {
        failures.removeAll { $0.moment <= moment }
        itemsSetAside.removeAll { $0.since <= moment }
    }

    /// Sets items aside. Of too many, the oldest are forgotten, and so asked for again.
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

    /// Notes that items did no harm; `nil` for all.
    ///
    /// - Returns: Whether any of them was set aside.
    @discardableResult
    public mutating func giveBack(_ items: Set<String>?) -> Bool {
        let count = itemsSetAside.count
        if let items { itemsSetAside.removeAll { items.contains($0.identifier) } } else { itemsSetAside = [] }
        return itemsSetAside.count < count
    }
}
