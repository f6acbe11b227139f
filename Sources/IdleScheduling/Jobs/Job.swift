// SPDX-License-Identifier: Apache-2.0

/// Work that is owed to an app's index until it is acknowledged.
public struct Job: Hashable, Sendable, Codable {
    /// What is to be done.
    public enum Work: Hashable, Sendable, Codable {
        /// Donate everything again.
        case reindexAll
        /// Donate again, or delete, some items.
        case reindexItems(Set<String>)

        /// Encodes the names in their order: that of a set is another in each process, and what is kept bears a checksum.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .reindexAll:
                _ = container.nestedContainer(keyedBy: ReindexAllCodingKeys.self, forKey: .reindexAll)
            case .reindexItems(let names):
                var values = container.nestedContainer(keyedBy: ReindexItemsCodingKeys.self, forKey: .reindexItems)
                try values.encode(names.sorted(), forKey: ._0)
            }
        }
    }

    /// Whose index; with ``work`` this is what makes two jobs the same.
    public var bundle: String
    /// What is to be done.
    public internal(set) var work: Work
    /// When it was first asked for, in seconds since 2001-01-01 UTC.
    public var requested: Double
    /// How often it was tried and failed since it last succeeded.
    public var failures: Int = 0
    /// Why it failed the last time.
    public var lastFailure: String?
    /// Not before this moment, in seconds since 2001-01-01 UTC; only a person's own request overrides it.
    public var notBefore: Double?
    /// How far a reindex of everything has come, if it is done in pages.
    public internal(set) var place: ReindexPlace?
    /// Why it is owed: what presses most of all that was asked and not answered. `nil` in jobs of older files.
    public internal(set) var cause: Cause?
    /// When something is lost unless it is done before, in seconds since 2001-01-01 UTC.
    public internal(set) var deadline: Double?

    /// Which requests this job answers; `nil` until a queue has taken it in.
    private var numbers: RequestNumbers?

    /// Creates a job that has not been tried.
    public init(bundle: String, work: Work, requested: Double, cause: Cause? = nil, deadline: Double? = nil) {
        self.bundle = bundle
        self.work = work
        self.requested = requested
        self.cause = cause
        self.deadline = deadline
    }
}

/// When a job's parts were last asked for, by the numbers that a queue gives to requests. Items stay here beside
/// everything, also when that is asked for later: pages that go on after that do not answer them.
private struct RequestNumbers: Hashable, Sendable, Codable {
    /// The last request of all.
    var latest: Int
    /// The last request for everything.
    var everything: Int?
    /// The last request for each item.
    var items: [String: Int] = [:]
    /// The last request for everything that stands for more items than are kept: pages that were begun before do not answer it.
    var beginning: Int?
    /// Why; `nil` where no cause is known.
    var reasons: JobReasons?

    init(_ job: Job, request: Int) {
        latest = request
        ask(for: job, request: request)
    }

    mutating func ask(for job: Job, request: Int) {
        ask(for: job.work, request: request)
        guard let cause = job.cause else { return }
        var known = reasons ?? JobReasons()
        known.add(cause, deadline: job.deadline, request: request)
        reasons = known
    }

    private mutating func ask(for work: Job.Work, request: Int) {
        latest = request
        switch work {
        case .reindexAll: everything = request
        case .reindexItems(let names):
            for name in names { items[name] = request }
        }
    }

    /// Takes out what a job has done that was taken from the queue after a request, and before the next.
    ///
    /// - Parameter first: The last request when the first page of everything was asked for.
    mutating func finish(_ work: Job.Work, upTo request: Int, first: Int) {
        reasons?.finish(upTo: first)
        if reasons == JobReasons() { reasons = nil }
        switch work {
        case .reindexAll:
            if let last = everything, last <= request { everything = nil }
            if let last = beginning, last <= first { beginning = nil }
            items = items.filter { $0.value > min(first, request) }
        case .reindexItems(let names):
            items = items.filter { $0.value > request || !names.contains($0.key) }
        }
    }

    /// What is left to do, or `nil` if nothing is.
    var work: Job.Work? {
        if everything != nil { return .reindexAll }
        return items.isEmpty ? nil : .reindexItems(Set(items.keys))
    }
}

extension Job {
    /// Gives the job, new in a queue, the number of its request.
    mutating func number(request: Int) { numbers = RequestNumbers(self, request: request) }

    /// Gives a job from a file without numbers one that is before all others.
    mutating func numberIfNeeded() { if numbers == nil { number(request: 0) } }

    /// The items it names, also beside everything.
    var items: Set<String> {
        if let numbers { return Set(numbers.items.keys) }
        if case .reindexItems(let names) = work { return names }
        return []
    }

    /// Melts another request into the job.
    ///
    /// - Parameter isTooMuch: Whether it asks for everything since there would be too many items otherwise.
    mutating func ask(for more: Job, request: Int, isTooMuch: Bool) {
        var numbers = numbers ?? RequestNumbers(self, request: 0)
        numbers.ask(for: more, request: request)
        if isTooMuch {
            (numbers.items, numbers.beginning) = ([:], request)
            place = nil
        }
        take(numbers)
        work = numbers.work ?? more.work
        // Whoever waits for nothing but a pause does not keep another request waiting.
        if failures == 0 { notBefore = more.notBefore.flatMap { one in notBefore.map { min($0, one) } } }
        // What failed was another extension.
        if more.cause?.isOfNewExtension == true { forgive() }
    }

    private mutating func take(_ numbers: RequestNumbers) {
        self.numbers = numbers
        (cause, deadline) = (numbers.reasons?.cause, numbers.reasons?.deadline)
    }

    /// Forgets failures.
    mutating func forgive() {
        failures = 0
        lastFailure = nil
        notBefore = nil
    }

    /// Whether pages may go on at a place: not if more was asked for since their first one than is kept.
    func canGoOn(at place: ReindexPlace) -> Bool {
        guard let beginning = numbers?.beginning else { return true }
        return place.request.map { $0 >= beginning } ?? false
    }

    /// The number of its last request; `nil` of one that no queue has taken in.
    public var request: Int? { numbers?.latest }

    /// Whether nothing in it is of a later format than the fourth.
    public var hasNoCause: Bool { cause == nil && deadline == nil && numbers?.reasons == nil }

    /// Takes out of the job what another one, begun earlier, has done; if that is something, failures are forgotten.
    ///
    /// - Returns: Whether anything is left to do.
    mutating func finish(_ done: Job) -> Bool {
        let before = numbers ?? RequestNumbers(self, request: 0)
        var after = before
        let request = done.request ?? .max
        after.finish(done.work, upTo: request, first: done.place.map { $0.request ?? 0 } ?? request)
        guard let left = after.work else { return false }
        // What was asked for meanwhile is to be done from the start, also if that is all again.
        if done.work == .reindexAll { place = nil }
        guard after != before else { return true }
        take(after)
        if left != work || done.work == .reindexAll { forgive() }
        work = left
        return true
    }
}

/// How long to wait after failures: 30 s, doubling, at most 5 h (Android's job scheduler waits the same).
public enum Backoff {
    /// The first wait, in seconds.
    public static let firstDelay = 30.0
    /// The longest wait, in seconds.
    public static let longestDelay = 5.0 * 3600

    /// The wait after so many failures in a row, in seconds.
    public static func delay(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return 0 }
        // 30 s doubled ten times is over five hours; a larger exponent would only overflow.
        return min(longestDelay, firstDelay * Double(1 << min(failures - 1, 16)))
    }
}
