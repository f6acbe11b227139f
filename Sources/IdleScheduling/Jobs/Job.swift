// SPDX-License-Identifier: Apache-2.0

/// A pending reindex of an app's index. It stays pending until it is acknowledged.
public struct Job: Hashable, Sendable, Codable {
    /// The kind of work.
    public enum Work: Hashable, Sendable, Codable {
        /// Donate all items again.
        case reindexAll
        /// Donate these items again, or delete them.
        case reindexItems(Set<String>)

        /// Encodes the names in sorted order. The order of a set differs between processes, and the
        /// stored bytes have a checksum.
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

    /// The bundle of the index. A bundle has at most one job in a queue.
    public var bundle: String
    /// The requested work.
    public internal(set) var work: Work
    /// The time of the first request, in seconds since 2001-01-01 UTC.
    public var requested: Double
    /// The number of failures since the last success.
    public var failures: Int = 0
    /// The reason for the last failure.
    public var lastFailure: String?
    /// The earliest time of the next attempt, in seconds since 2001-01-01 UTC. Only a request by
    /// the user overrides it.
    public var notBefore: Double?
    /// The progress of a paged full reindex.
    public internal(set) var place: ReindexPlace?
    /// The most urgent cause among the unanswered requests. `nil` in jobs from older files.
    public internal(set) var cause: Cause?
    /// The time after which something is lost if the job is not done, in seconds since 2001-01-01
    /// UTC.
    public internal(set) var deadline: Double?

    /// The requests that this job covers; `nil` until a queue has accepted the job.
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

/// The number of the last request for each part of a job. A queue numbers its requests.
///
/// Item requests are kept alongside a later request for everything, because pages that continue
/// after the item request do not cover the items.
private struct RequestNumbers: Hashable, Sendable, Codable {
    /// The number of the last request.
    var latest: Int
    /// The number of the last request for everything.
    var everything: Int?
    /// The number of the last request for each item.
    var items: [String: Int] = [:]
    /// The number of the last request for everything that replaced too many items. Pages that began
    /// earlier do not cover it.
    var beginning: Int?
    /// The causes of the requests; `nil` if no cause is known.
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

    /// Removes the requests that a job has fulfilled. The job was taken from the queue after
    /// request number `request` and before the next one.
    ///
    /// - Parameter first: The number of the last request when the first page of everything was
    ///   requested.
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

    /// The remaining work; `nil` if none remains.
    var work: Job.Work? {
        if everything != nil { return .reindexAll }
        return items.isEmpty ? nil : .reindexItems(Set(items.keys))
    }
}

extension Job {
    /// Sets the request number of a job that is new to a queue.
    mutating func number(request: Int) { numbers = RequestNumbers(self, request: request) }

    /// Sets request number 0 on a job from a file without numbers.
    mutating func numberIfNeeded() { if numbers == nil { number(request: 0) } }

    /// The requested items, including those alongside a request for everything.
    var items: Set<String> {
        if let numbers { return Set(numbers.items.keys) }
        if case .reindexItems(let names) = work { return names }
        return []
    }

    /// Merges another request into the job.
    ///
    /// - Parameter isTooMuch: `true` if the request is for everything because there would be too
    ///   many items.
    mutating func ask(for more: Job, request: Int, isTooMuch: Bool) {
        var numbers = numbers ?? RequestNumbers(self, request: 0)
        numbers.ask(for: more, request: request)
        if isTooMuch {
            (numbers.items, numbers.beginning) = ([:], request)
            place = nil
        }
        take(numbers)
        work = numbers.work ?? more.work
        // A job that is only waiting for a pause to end does not delay another request.
        if failures == 0 { notBefore = more.notBefore.flatMap { one in notBefore.map { min($0, one) } } }
        // The failures belong to the extension's previous version.
        if more.cause?.isOfNewExtension == true { forgive() }
    }

    private mutating func take(_ numbers: RequestNumbers) {
        self.numbers = numbers
        (cause, deadline) = (numbers.reasons?.cause, numbers.reasons?.deadline)
    }

    /// Clears the failures.
    mutating func forgive() {
        failures = 0
        lastFailure = nil
        notBefore = nil
    }

    /// Returns `true` if a paged reindex may continue from a position. It may not if a request made
    /// after the first page replaced too many items.
    func canGoOn(at place: ReindexPlace) -> Bool {
        guard let beginning = numbers?.beginning else { return true }
        return place.request.map { $0 >= beginning } ?? false
    }

    /// The number of the last request; `nil` before a queue has accepted the job.
    public var request: Int? { numbers?.latest }

    /// `true` if the job covers a request that resulted from a loss, among any others.
    public var isForLosses: Bool { cause == .lost || numbers?.reasons?.contains(.lost) == true }

    /// `true` if the job uses no feature introduced after file format 4.
    public var hasNoCause: Bool { cause == nil && deadline == nil && numbers?.reasons == nil }

    /// Removes the work that an earlier copy of the job has completed. Clears the failures if any
    /// work was removed.
    ///
    /// - Returns: `true` if work remains.
    mutating func finish(_ done: Job) -> Bool {
        let before = numbers ?? RequestNumbers(self, request: 0)
        var after = before
        let request = done.request ?? .max
        after.finish(done.work, upTo: request, first: done.place.map { $0.request ?? 0 } ?? request)
        guard let left = after.work else { return false }
        // A request made while the job runs starts over, even if it asks for everything again.
        if done.work == .reindexAll { place = nil }
        guard after != before else { return true }
        take(after)
        if left != work || done.work == .reindexAll { forgive() }
        work = left
        return true
    }
}

/// The delay after failures: 30 s, doubling with each failure, at most 5 h. Android's JobScheduler
/// uses the same delays.
public enum Backoff {
    /// The first delay, in seconds.
    public static let firstDelay = 30.0
    /// The longest delay, in seconds.
    public static let longestDelay = 5.0 * 3600

    /// Returns the delay after a number of consecutive failures, in seconds.
    public static func delay(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return 0 }
        // Doubling 30 s ten times exceeds five hours. A larger exponent would overflow.
        return min(longestDelay, firstDelay * Double(1 << min(failures - 1, 16)))
    }
}
