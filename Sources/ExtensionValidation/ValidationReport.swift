// SPDX-License-Identifier: Apache-2.0

/// The report of a validation.
public struct ValidationReport: Sendable, Hashable {
    /// The path of the bundle.
    public var path: String
    /// The bundle's identifier, if it could be read.
    public var identifier: String?
    /// The seed that reproduces all random choices.
    public var seed: UInt64
    /// `true` if the extension was loaded into the validator's process.
    public var isInProcess: Bool
    /// The checks, in the order in which they ran.
    public var checks: [CheckReport] = []

    /// Creates a report without checks.
    public init(path: String, seed: UInt64, isInProcess: Bool) {
        self.path = path
        self.seed = seed
        self.isInProcess = isInProcess
    }

    /// `true` if no check failed or crashed.
    public var isGood: Bool { !checks.contains { $0.result.isFailure } }

    /// Returns the number of checks with this kind of result.
    public func count(_ kind: CheckResult.Kind) -> Int { checks.count { $0.result.kind == kind } }
}

extension ValidationReport: Encodable {
    private enum Key: String, CodingKey {
        case path, identifier, seed, inProcess, good, counts, checks
    }
    private enum CheckKey: String, CodingKey {
        case name, result, reason, advice, seconds
    }

    /// Encodes the report. Keys and values are stable: checks and results as raw values, durations
    /// as a number of seconds. The seed is a string, because many JSON readers round large numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(path, forKey: .path)
        try container.encodeIfPresent(identifier, forKey: .identifier)
        try container.encode(String(seed), forKey: .seed)
        try container.encode(isInProcess, forKey: .inProcess)
        try container.encode(isGood, forKey: .good)
        let counts = CheckResult.Kind.allCases.map { ($0.rawValue, count($0)) }
        try container.encode(Dictionary(counts) { first, _ in first }, forKey: .counts)
        var list = container.nestedUnkeyedContainer(forKey: .checks)
        for report in checks {
            var one = list.nestedContainer(keyedBy: CheckKey.self)
            try one.encode(report.check.rawValue, forKey: .name)
            try one.encode(report.result.kind.rawValue, forKey: .result)
            try one.encodeIfPresent(report.result.reason, forKey: .reason)
            try one.encodeIfPresent(report.result.advice, forKey: .advice)
            try one.encode(report.duration.milliseconds / 1000, forKey: .seconds)
        }
    }
}

extension Duration {
    /// The duration in milliseconds, with fractions.
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1_000_000_000_000_000
    }
}
