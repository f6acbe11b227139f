// SPDX-License-Identifier: Apache-2.0

extension Job {
    /// Why a job is owed, from what presses least to what presses most.
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
        /// Items are about to expire, and are gone then unless they are donated again.
        case expiry
        /// Items that were set aside may be asked for again.
        case givenBack = "given-back"
        /// An item was found to be gone when a user wanted to see or to drag it.
        case foundGone = "found-gone"
        /// Files have changed, and the extension can only be asked for everything.
        case filesChanged = "files-changed"
        /// The extension was replaced by another version.
        case upgraded
        /// The extension was not there before.
        case added
        /// The index has lost something.
        case lost
        /// An app or a person has asked for it.
        case asked

        /// How long a job of this cause can wait.
        public var urgency: Urgency { self == .expiry ? .expiry : .freshness }

        /// Whether the extension is another than the one that failed before.
        var isOfNewExtension: Bool { self == .added || self == .upgraded }

        /// Whether a cause presses less than another.
        public static func < (one: Cause, other: Cause) -> Bool { one.rank < other.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How long it can wait. Jobs of older files have no cause; somebody asked for them.
    public var urgency: Urgency { (cause ?? .asked).urgency }
}

/// The causes of a job's requests that are not answered, each with the last request of that cause.
struct JobReasons: Hashable, Sendable, Codable {
    private struct Reason: Hashable, Sendable, Codable {
        var cause: Job.Cause
        var request: Int
        var deadline: Double?
    }
    /// At most one for each cause, what presses most first.
    private var all: [Reason] = []

    init() {}

    /// What presses most.
    var cause: Job.Cause? { all.first?.cause }
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

    /// Forgets those of requests that were answered.
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
