// SPDX-License-Identifier: Apache-2.0

/// What came of a validation.
public struct ValidationReport: Sendable, Hashable {
    /// The bundle.
    public var path: String
    /// Its identifier, if it could be read.
    public var identifier: String?
    /// The seed that replays all choices.
    public var seed: UInt64
    /// Whether the extension was loaded into the validator's process.
    public var isInProcess: Bool
    /// The checks, in the order in which they ran.
    public var checks: [CheckReport] = []

    /// Creates a report without checks.
    public init(path: String, seed: UInt64, isInProcess: Bool) {
        self.path = path
        self.seed = seed
        self.isInProcess = isInProcess
    }

    /// Whether nothing failed or crashed.
    public var isGood: Bool { !checks.contains { $0.result.isFailure } }

    /// How many checks ended in a way.
    public func count(_ kind: CheckResult.Kind) -> Int { checks.count { $0.result.kind == kind } }
}

extension ValidationReport: Encodable {
    private enum Key: String, CodingKey {
        case path, identifier, seed, inProcess, good, counts, checks
    }
    private enum CheckKey: String, CodingKey {
        case name, result, reason, advice, seconds
    }

    /// Keys and values are stable: names of checks and kinds of results as their raw values, seconds as a number. The seed is
    /// a text, since many readers of JSON round large numbers.
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
    /// In milliseconds, with fractions.
    var milliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1_000_000_000_000_000
    }
}
