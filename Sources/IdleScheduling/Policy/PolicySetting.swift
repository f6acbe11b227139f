// SPDX-License-Identifier: Apache-2.0

/// A constant of the policy that the configuration may change.
public struct PolicySetting: Sendable {
    /// The stable key in the configuration.
    public let key: String
    /// The unit: s, share, %, bytes, files, or empty for scores.
    public let unit: String
    /// The allowed range.
    public let range: ClosedRange<Double>
    /// The key path in the policy.
    let path: any WritableKeyPath<SchedulingPolicy, Double> & Sendable

    /// The default value.
    public var standard: Double { SchedulingPolicy()[keyPath: path] }

    /// Returns the setting's value in a policy.
    public func value(in policy: SchedulingPolicy) -> Double { policy[keyPath: path] }

    private init(
        _ key: String, _ unit: String, _ range: ClosedRange<Double>,
        _ path: any WritableKeyPath<SchedulingPolicy, Double> & Sendable
    ) {
        (self.key, self.unit, self.range, self.path) = (key, unit, range, path)
    }

    private static let day = 86400.0
    private static let gibibyte = 1_073_741_824.0

    /// All settings, in the order of docs/SCHEDULING.md.
    public static let all: [PolicySetting] = [
        PolicySetting("tolerance.freshness", "s", 10...30 * day, \.freshnessTolerance),
        PolicySetting("tolerance.expiry", "s", 60...30 * day, \.expiryTolerance),
        PolicySetting("tolerance.maintenance", "s", 60...30 * day, \.maintenanceTolerance),
        PolicySetting("deadline.score", "", 0.1...100, \.deadlineScore),
        PolicySetting("expiry.notice", "s", 3600...30 * day, \.expiryNotice),
        PolicySetting("user-active.seconds", "s", 5...3600, \.userActiveSeconds),
        PolicySetting("just-resumed.seconds", "s", 0...3600, \.justResumedSeconds),
        PolicySetting("cpu-busy.closes", "share", 0.01...1, \.cpuBusyCloses),
        PolicySetting("cpu-busy.opens", "share", 0.01...1, \.cpuBusyOpens),
        PolicySetting("cpu-pressure.closes", "share", 0.01...1, \.cpuPressureCloses),
        PolicySetting("cpu-pressure.opens", "share", 0.01...1, \.cpuPressureOpens),
        PolicySetting("cpu-pressure.others", "share", 0...1, \.cpuPressureOthers),
        PolicySetting("io-pressure.closes", "share", 0.01...1, \.ioPressureCloses),
        PolicySetting("io-pressure.opens", "share", 0.01...1, \.ioPressureOpens),
        PolicySetting("io-pressure.running", "share", 0.01...1, \.ioPressureRunning),
        PolicySetting("io-pressure.own", "s", 0...300, \.ioPressureOwn),
        PolicySetting("memory-pressure.closes", "share", 0.01...1, \.memoryPressureCloses),
        PolicySetting("memory-pressure.opens", "share", 0.01...1, \.memoryPressureOpens),
        PolicySetting("battery-low.closes", "%", 5...100, \.batteryLowCloses),
        PolicySetting("battery-low.opens", "%", 5...100, \.batteryLowOpens),
        PolicySetting("disk-floor.closes", "bytes", 0...1024 * gibibyte, \.diskFloorCloses),
        PolicySetting("disk-floor.opens", "bytes", 0...1024 * gibibyte, \.diskFloorOpens),
        PolicySetting("slice.full", "s", 1...600, \.sliceFull),
        PolicySetting("slice.relaxed", "s", 1...60, \.sliceRelaxed),
        PolicySetting("slice.period", "s", 10...3600, \.slicePeriod),
        PolicySetting("turn.run", "s", 1...day, \.turnRun),
        PolicySetting("turn.patience", "s", 1...day, \.turnPatience),
        PolicySetting("pause.shortest", "s", 0...60, \.pauseShortest),
        PolicySetting("pause.longest", "s", 60...day, \.pauseLongest),
        PolicySetting("pause.longest-ever", "s", 60...7 * day, \.pauseLongestEver),
        PolicySetting("cancel.pause", "s", 0...7 * day, \.cancelPause),
        PolicySetting("fresh.files", "files", 0...65536, \.freshFiles),
        PolicySetting("fresh.bytes", "bytes", 0...gibibyte, \.freshBytes),
        PolicySetting("fresh.burst", "s", 0.05...60, \.freshBurst),
        PolicySetting("fresh.rate", "share", 0.001...1, \.freshRate),
        PolicySetting("quota.window", "s", 3600...day, \.quotaWindow),
        PolicySetting("quota.cpu", "s", 10...day, \.quotaCPU),
        PolicySetting("quota.written", "bytes", gibibyte / 64...1024 * gibibyte, \.quotaWritten),
        PolicySetting("look.waiting", "s", 60...3600, \.lookWaiting),
    ]
}
