// SPDX-License-Identifier: Apache-2.0

extension Job {
    /// The cause of a job, ordered from least to most urgent.
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
        /// Items are about to expire, and are lost unless they are donated again.
        case expiry
        /// Items on the skip list can be requested again.
        case givenBack = "given-back"
        /// An item no longer existed when the user opened or dragged it.
        case foundGone = "found-gone"
        /// Files changed, and the extension can only reindex everything.
        case filesChanged = "files-changed"
        /// The extension was replaced by a different version.
        case upgraded
        /// The extension is new.
        case added
        /// The index has lost data.
        case lost
        /// An app or the user requested the job.
        case asked

        /// The urgency of a job with this cause.
        public var urgency: Urgency { self == .expiry ? .expiry : .freshness }

        /// `true` if the extension is not the version that failed before.
        var isOfNewExtension: Bool { self == .added || self == .upgraded }

        /// Returns `true` if the first cause is less urgent than the second.
        public static func < (one: Cause, other: Cause) -> Bool { one.rank < other.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The urgency of the job. A job from an older file has no cause and is treated as requested.
    public var urgency: Urgency { (cause ?? .asked).urgency }
}

/// The causes of a job's open requests, each with the last request that has this cause.
struct JobReasons: Hashable, Sendable, Codable {
    private struct Reason: Hashable, Sendable, Codable {
        var cause: Job.Cause
        var request: Int
        var deadline: Double?
    }
    /// At most one entry per cause, most urgent first.
    private var all: [Reason] = []

    init() {}

    /// The most urgent cause.
    var cause: Job.Cause? { all.first?.cause }
    /// Returns `true` if there is an open request with a cause.
    func contains(_ cause: Job.Cause) -> Bool { all.contains { $0.cause == cause } }
    var deadline: Double? { all.compactMap(\.deadline).min() }

    mutating func add(_ cause: Job.Cause, deadline: Double?, request: Int) {
        if let index = all.firstIndex(where: { $0.cause == cause }) {
            all[index].request = request
            all[index].deadline = [all[index].deadline, deadline].compactMap { $0 }.min()
        } else {
            all.append(Reason(cause: cause, request: request, deadline: deadline))
            all.sort { $0.cause > $1.cause }
        }
    }

    /// Removes the causes of fulfilled requests.
    mutating func finish(upTo request: Int) { all.removeAll { $0.request <= request } }

    init(from decoder: any Decoder) throws {
        for reason in try decoder.singleValueContainer().decode([Reason].self) {
            add(reason.cause, deadline: reason.deadline, request: reason.request)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(all)
    }
}
